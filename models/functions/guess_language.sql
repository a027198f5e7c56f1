-- guess_language: return which of some languages, or English, a text is most likely written in.
--
-- It is the language that drops most words of the text as stop words ("the", "die", "el"). Without stop words that tell
-- the languages apart, the answer is English.
CREATE OR REPLACE FUNCTION slowwave.guess_language(p_text text, p_languages text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN cardinality(p_languages) = 0 THEN 'en' ELSE (
        SELECT l.language
        FROM unnest(ARRAY['en'] || p_languages) WITH ORDINALITY AS l (language, place)
        ORDER BY (
            SELECT coalesce(sum(cardinality(w.positions)), 0)
            FROM unnest(to_tsvector(slowwave.search_configuration(l.language), left(p_text, 1000))) AS w
        ), l.place
        LIMIT 1
    ) END
$$;
