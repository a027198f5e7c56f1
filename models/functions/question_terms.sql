-- question_terms: return the words of a question, each with the lexemes by which texts in English and in p_languages
-- contain it.
--
-- The first lexeme belongs to the language of the question. Its stop words are left out, and its words are stemmed as
-- each language stems them, since any of them may have written the answer ("Superset", "Berlin", "Team"). If all is
-- English, each word has one lexeme: its stem.
--
-- A question in Han, Kana, Hangul or Thai characters is made of pairs of characters. Pairs with a particle say nothing,
-- so they are left out if others remain.
CREATE OR REPLACE FUNCTION slowwave.question_terms(p_question text, p_languages text[]) RETURNS TABLE (lexemes text[])
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    v_particles CONSTANT text := '[的了吗呢吧啊是在我你您他她它们这那哪什么怎谁也很还把被让]|'
        '[\u3041-\u3096]{2}|[のはをがにへとでもやかねよ]';
    v_words text;
    v_exact text[];
    v_language text;
BEGIN
    SELECT s.words, s.exact INTO v_words, v_exact FROM slowwave.searched_text(p_question) AS s;
    IF cardinality(p_languages) = 0 THEN
        RETURN QUERY SELECT ARRAY[w.lexeme] FROM unnest(to_tsvector('pg_catalog.english', v_words)) AS w;
    ELSE
        v_language := slowwave.guess_language(v_words, p_languages);
        RETURN QUERY
        WITH stems AS MATERIALIZED (
            SELECT l.place AS language, p.place, w.lexeme
            FROM (
                -- The unknown language last: words as they stand find what is not flushed yet by their beginning.
                SELECT slowwave.search_configuration(x.language) AS configuration, min(x.place) AS place
                FROM unnest(ARRAY[v_language, 'en'] || p_languages || ARRAY['']) WITH ORDINALITY AS x (language, place)
                GROUP BY 1
            ) AS l
            CROSS JOIN unnest(to_tsvector(l.configuration, v_words)) AS w
            CROSS JOIN unnest(w.positions) AS p (place)
        )
        SELECT own.lexeme || array_agg(DISTINCT s.lexeme) FILTER (WHERE s.lexeme <> own.lexeme)
        FROM stems own
        JOIN stems s ON s.place = own.place
        WHERE own.language = 1
        GROUP BY own.lexeme;
    END IF;
    IF v_exact IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH exact AS MATERIALIZED (
        SELECT DISTINCT x.lexeme, x.lexeme ~ v_particles AND length(x.lexeme) = 2 AS is_particle
        FROM unnest(v_exact) AS x (lexeme)
        WHERE x.lexeme <> ALL (tsvector_to_array(to_tsvector('pg_catalog.english', v_words)))
          -- The last character of a run is in the pair before it.
          AND NOT (length(x.lexeme) = 1 AND EXISTS (
              SELECT FROM unnest(v_exact) AS pair (lexeme) WHERE pair.lexeme LIKE '_' || x.lexeme))
    )
    SELECT ARRAY[x.lexeme] FROM exact x
    WHERE NOT x.is_particle OR NOT EXISTS (SELECT FROM exact o WHERE NOT o.is_particle);
END
$$;
