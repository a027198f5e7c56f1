-- search_vector: return the searched words of the first p_characters of a text, in the language of the text.
--
-- The function drops words so long that a scope in front of them would exceed the limit of a lexeme (2,046 bytes). No
-- human word is that long, but keys and encoded images are.
--
-- The search vector of a memory or an event contains the words by which search finds it. They are stemmed by the
-- configuration of their language (slowwave.search_configuration). Names are indexed whole and in parts, and scripts
-- without spaces by pairs of characters (slowwave.searched_text). Words with accents are indexed without them, too, and
-- long German words also as '>word' and '<drow', by which slowwave.compound_terms finds their parts. The weight of a lexeme names
-- its field, and slowwave.search gives each weight its value:
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
    -- Words with a letter that slowwave.plain_letters changes.
    v_letters CONSTANT text := '[[:alpha:]\u0300-\u036f]*[\u00c0-\u024f\u0300-\u036f\u0386-\u03ce\u0401\u0451'
        '\u1e00-\u1fff][[:alpha:]\u0300-\u036f]*';
    v_configuration regconfig := slowwave.search_configuration(p_language);
    v_vector tsvector;
    v_text record;
    v_accented text;
    v_known text[];
    v_more text[];
BEGIN
    IF p_text IS NULL THEN
        RETURN '';
    END IF;
    v_text := slowwave.searched_text(left(p_text, p_characters));
    v_vector := to_tsvector(v_configuration, v_text.words);
    IF length(p_text) > 400 THEN
        v_vector := ts_delete(v_vector, ARRAY(
            SELECT w.lexeme FROM unnest(v_vector) AS w WHERE octet_length(w.lexeme) > 500));
    END IF;
    v_known := tsvector_to_array(v_vector);
    -- The German stemmer removes umlauts itself.
    IF octet_length(v_text.words) > length(v_text.words)
        AND (p_language <> 'de' OR octet_length(v_vector::text) > length(v_vector::text)) THEN
        SELECT string_agg(w.found[1], ' ') INTO v_accented FROM regexp_matches(v_text.words, v_letters, 'g') AS w (found);
    END IF;
    IF v_text.exact IS NULL AND v_accented IS NULL AND p_language <> 'de' THEN
        RETURN v_vector;
    END IF;
    IF v_accented IS NOT NULL THEN
        -- A stop word with an accent stays out: its place is empty.
        v_more := ARRAY(
            SELECT w.lexeme FROM unnest(to_tsvector(v_configuration, slowwave.plain_letters(v_accented))) AS w
            WHERE octet_length(w.lexeme) <= 500 AND w.positions && (
                SELECT array_agg(p.place)
                FROM unnest(to_tsvector(v_configuration, v_accented)) AS k CROSS JOIN unnest(k.positions) AS p (place)));
    END IF;
    IF p_language = 'de' THEN
        v_more := v_more || ARRAY(
            SELECT unnest(ARRAY['>' || k.lexeme, '<' || reverse(k.lexeme)]) FROM unnest(v_known) AS k (lexeme)
            WHERE k.lexeme ~ '^[a-zäöüß]{8,40}$');
    END IF;
    -- The parser keeps some names whole, too. They count once.
    RETURN v_vector || coalesce((
        SELECT string_agg(
            '''' || replace(replace(x.lexeme, '\', '\\'), '''', '''''') || ''':' || least(x.place, 16383), ' ')::tsvector
        FROM unnest(v_text.exact || v_more) WITH ORDINALITY AS x (lexeme, place)
        WHERE x.lexeme <> ALL (v_known)
    ), '');
END
$$;
