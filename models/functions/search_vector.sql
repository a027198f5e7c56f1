-- The vectors of search: what a memory or an event is found by.
--
-- Words are stemmed as English. The weight of a lexeme says where it stood; slowwave.recall says what that is worth:
--   A  its own text and speaker      B  its date      C  the turn before (names, of a memory)      D  the one before that
-- "Yes, in May!" is found by the question that it answers, and "what happened in May 2024" by the date it was said.
--
-- Every lexeme carries its scope (`17:adopt`): one GIN index serves all scopes, and a query of one scope never reads
-- the postings of another (I8).

-- search_vector: stemmed words of a text, its first p_characters, without words so long that a scope in front of them
-- would pass what a lexeme may hold (2,046 bytes). Nothing human is that long; keys and images are.
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
