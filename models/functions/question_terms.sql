-- question_terms: return the words of a question, each with the lexemes by which texts in English and in p_languages
-- contain it.
--
-- The first lexeme belongs to the language of the question. Its stop words are left out, and its words are stemmed as
-- each language stems them, since any of them may have written the answer ("Superset", "Berlin", "Team"). If all is
-- English, each word has one lexeme: its stem. A word with accents has its lexemes without them, too. If a text is
-- German, nouns have what slowwave.compound_terms returns.
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
    v_plain text;
    v_nouns text[];
    v_exact text[];
    v_language text;
BEGIN
    SELECT s.words, s.exact INTO v_words, v_exact FROM slowwave.searched_text(p_question) AS s;
    v_plain := slowwave.plain_letters(v_words);
    IF cardinality(p_languages) = 0 AND v_plain = v_words THEN
        RETURN QUERY SELECT ARRAY[w.lexeme] FROM unnest(to_tsvector('pg_catalog.english', v_words)) AS w;
    ELSE
        v_language := slowwave.guess_language(v_words, p_languages);
        IF 'de' = ANY (p_languages) THEN
            -- All words, if the question has no capital letters.
            v_nouns := ARRAY(SELECT lower(n.found[1]) FROM regexp_matches(v_words, '\m([A-ZÄÖÜ][a-zäöüß]+)', 'g') AS n (found));
        END IF;
        RETURN QUERY
        WITH stems AS MATERIALIZED (
            SELECT l.place AS language, f.place AS form, p.place, w.lexeme,
                   l.configuration = 'pg_catalog.simple'::regconfig AND f.place = 1 AS is_whole
            FROM (
                -- The unknown language last: words as they stand find what is not flushed yet by their beginning.
                SELECT slowwave.search_configuration(x.language) AS configuration, min(x.place) AS place
                FROM unnest(ARRAY[v_language, 'en'] || p_languages || ARRAY['']) WITH ORDINALITY AS x (language, place)
                GROUP BY 1
            ) AS l
            CROSS JOIN (SELECT v_words, 1 UNION ALL SELECT v_plain, 2 WHERE v_plain <> v_words) AS f (words, place)
            CROSS JOIN unnest(to_tsvector(l.configuration, f.words)) AS w
            CROSS JOIN unnest(w.positions) AS p (place)
        ), known AS (
            SELECT s.place, s.lexeme FROM stems s
            UNION ALL
            SELECT s.place, c.lexeme FROM stems s CROSS JOIN unnest(slowwave.compound_terms(s.lexeme)) AS c (lexeme)
            WHERE s.is_whole AND (s.lexeme = ANY (v_nouns) OR v_nouns = '{}')
        )
        SELECT own.lexeme || array_agg(DISTINCT k.lexeme) FILTER (WHERE k.lexeme <> own.lexeme)
        FROM stems own
        JOIN known k ON k.place = own.place
        WHERE own.language = 1 AND own.form = 1
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
