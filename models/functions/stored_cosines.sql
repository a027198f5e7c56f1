-- stored_cosines: return the cosines of a question and the stored vectors of memories and passages.
--
-- Each row has the place of its document in the arrays, from 1; a document without a vector has no row. A document is a
-- memory, or a passage if p_memory_ids holds NULL at its place. The scope is a condition of the statement (I8). Only
-- databases with the extension `vector` run this statement.
CREATE OR REPLACE FUNCTION slowwave.stored_cosines(
    p_space_id bigint, p_scopes bigint[], p_question real[], p_memory_ids uuid[], p_session_ids bigint[],
    p_seqs bigint[], p_parts integer[]
) RETURNS TABLE (place bigint, cosine double precision)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
BEGIN
    IF p_space_id IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT d.place, -(v.embedding::vector <#> p_question::vector)
    FROM unnest(p_memory_ids) WITH ORDINALITY AS d (memory_id, place)
    JOIN slowwave.memory_vectors v ON v.memory_id = d.memory_id
    WHERE v.space_id = p_space_id AND v.scope_id = ANY (p_scopes)
    UNION ALL
    SELECT d.place, -(v.embedding::vector <#> p_question::vector)
    FROM unnest(p_session_ids, p_seqs, p_parts) WITH ORDINALITY AS d (session_id, seq, part, place)
    JOIN slowwave.passage_vectors v ON v.session_id = d.session_id AND v.seq = d.seq AND v.part = d.part
    WHERE v.space_id = p_space_id AND v.scope_id = ANY (p_scopes);
END
$$;
