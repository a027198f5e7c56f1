-- stored_cosine: return the cosine of a question and the stored vector of a memory or passage; NULL if it has none.
--
-- The scope is a condition of the statement (I8). Only databases with the extension `vector` run this function.
CREATE OR REPLACE FUNCTION slowwave.stored_cosine(
    p_space_id bigint, p_scopes bigint[], p_question real[], p_memory_id uuid, p_session_id bigint, p_seq bigint,
    p_part integer
) RETURNS double precision
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    IF p_memory_id IS NOT NULL THEN
        RETURN (SELECT -(v.embedding::vector <#> p_question::vector) FROM slowwave.memory_vectors v
                WHERE v.memory_id = p_memory_id AND v.space_id = p_space_id AND v.scope_id = ANY (p_scopes));
    END IF;
    RETURN (SELECT -(v.embedding::vector <#> p_question::vector) FROM slowwave.passage_vectors v
            WHERE v.session_id = p_session_id AND v.seq = p_seq AND v.part = p_part AND v.space_id = p_space_id
              AND v.scope_id = ANY (p_scopes));
END
$$;
