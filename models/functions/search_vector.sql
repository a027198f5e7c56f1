-- search_vector: return the stemmed words of the first p_characters of a text.
--
-- The function drops words so long that a scope in front of them would exceed the limit of a lexeme (2,046 bytes). No
-- human word is that long, but keys and encoded images are.
--
-- The search vector of a memory or an event contains the words by which search finds it. Words are stemmed as English.
-- The weight of a lexeme names its field, and slowwave.search_text gives each weight its value:
--   A  its own text and speaker
--   B  its date
--   C  the turn before (for a memory: its entities)
--   D  the turn before that
-- So search finds "Yes, in May!" by the question that it answers, and the question "what happened in May 2024" finds
-- events by their date.
--
-- Every lexeme carries its scope (`17:adopt`). So one GIN index serves all scopes, and a query of one scope never reads
-- the postings of another scope (I8).
CREATE OR REPLACE FUNCTION slowwave.search_vector(p_text text, p_characters integer) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    v_vector tsvector;
BEGIN
    IF p_text IS NULL THEN
        RETURN '';
    END IF;
    IF length(p_text) <= 400 THEN
        RETURN to_tsvector('pg_catalog.english', p_text);
    END IF;
    v_vector := to_tsvector('pg_catalog.english', left(p_text, p_characters));
    RETURN ts_delete(v_vector, ARRAY(
        SELECT w.lexeme FROM unnest(v_vector) AS w WHERE octet_length(w.lexeme) > 500));
END
$$;
