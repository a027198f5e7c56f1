-- search_vector: return the searched words of the first p_characters of a text, in the language of the text.
--
-- The function drops words so long that a scope in front of them would exceed the limit of a lexeme (2,046 bytes). No
-- human word is that long, but keys and encoded images are.
--
-- The search vector of a memory or an event contains the words by which search finds it. They are stemmed by the
-- configuration of their language (slowwave.search_configuration). Names are indexed whole and in parts, and scripts
-- without spaces by pairs of characters (slowwave.searched_text). The weight of a lexeme names its field, and
-- slowwave.search gives each weight its value:
--   A  its own text and speaker
--   B  its date
--   C  the turn before (for a memory: its entities)
--   D  the turn before that
-- So search finds "Yes, in May!" by the question that it answers, and the question "what happened in May 2024" finds
-- events by their date.
--
-- Every lexeme carries its scope (`17:adopt`). So one GIN index serves all scopes, and a query of one scope never reads
-- the postings of another scope (I8).
CREATE OR REPLACE FUNCTION slowwave.search_vector(
    p_text text, p_characters integer, p_language text DEFAULT 'en'
) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    v_vector tsvector;
    v_text record;
    v_known text[];
BEGIN
    IF p_text IS NULL THEN
        RETURN '';
    END IF;
    v_text := slowwave.searched_text(left(p_text, p_characters));
    v_vector := to_tsvector(slowwave.search_configuration(p_language), v_text.words);
    IF length(p_text) > 400 THEN
        v_vector := ts_delete(v_vector, ARRAY(
            SELECT w.lexeme FROM unnest(v_vector) AS w WHERE octet_length(w.lexeme) > 500));
    END IF;
    IF v_text.exact IS NULL THEN
        RETURN v_vector;
    END IF;
    -- The parser keeps some names whole, too. They count once. No exact lexeme contains a quote.
    v_known := tsvector_to_array(v_vector);
    RETURN v_vector || coalesce((
        SELECT string_agg('''' || x.lexeme || ''':' || least(x.place, 16383), ' ')::tsvector
        FROM unnest(v_text.exact) WITH ORDINALITY AS x (lexeme, place)
        WHERE x.lexeme <> ALL (v_known)
    ), '');
END
$$;
