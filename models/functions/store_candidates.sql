-- store_candidates: store each statement of a flush as a new memory or a repetition, and count them in the ledger.
CREATE OR REPLACE FUNCTION slowwave.store_candidates(
    p_scope_id bigint, p_session_id bigint, p_flush_id bigint, p_candidates jsonb, p_now timestamptz,
    OUT stored integer, OUT repeated integer
)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_candidate record;
    v_memory record;
BEGIN
    stored := 0;
    repeated := 0;
    IF jsonb_array_length(p_candidates) = 0 THEN
        RETURN;
    END IF;
    FOR v_candidate IN
        SELECT c.* FROM jsonb_to_recordset(p_candidates) AS c (
            content text, hash text, type text, status text, confidence double precision, importance double precision,
            trust text, entities text[], valid_from timestamptz, sources bigint[], reason text)
    LOOP
        SELECT * INTO v_memory FROM slowwave.store_memory(
            p_scope_id, p_session_id, p_flush_id, v_candidate.content, decode(v_candidate.hash, 'hex'),
            v_candidate.type, v_candidate.status, v_candidate.confidence, v_candidate.importance, v_candidate.trust,
            v_candidate.entities, v_candidate.valid_from, v_candidate.sources, v_candidate.reason, p_now);
        stored := stored + v_memory.is_new::integer;
        repeated := repeated + (NOT v_memory.is_new)::integer;
    END LOOP;
    UPDATE slowwave.flushes f
    SET candidates = jsonb_array_length(p_candidates), stored = store_candidates.stored,
        repeated = store_candidates.repeated
    WHERE f.id = p_flush_id;
END
$$;
