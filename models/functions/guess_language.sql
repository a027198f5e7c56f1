-- guess_language: return which of some languages, or English, a text is most likely written in.
--
-- It is the language that drops most words of the text as stop words ("the", "die", "el"), but not all of them if another
-- keeps some: "dog" is no Danish question. Without stop words that tell the languages apart, the answer is English.
CREATE OR REPLACE FUNCTION slowwave.guess_language(p_text text, p_languages text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN cardinality(p_languages) = 0 THEN 'en' ELSE (
        SELECT l.language
        FROM unnest(ARRAY['en'] || p_languages) WITH ORDINALITY AS l (language, place)
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(cardinality(w.positions)), 0) AS words
            FROM unnest(to_tsvector(slowwave.search_configuration(l.language), left(p_text, 1000))) AS w
        ) AS kept
        ORDER BY kept.words = 0, kept.words, l.place
        LIMIT 1
    ) END
$$;
