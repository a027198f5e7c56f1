-- store_candidates: store each statement of a flush as a new memory or a repetition, and count them in the ledger.
--
-- repeats: a live memory of the scope that says the same in other words. It gains the sources, and the function makes no
--   row. If that memory is gone, the function stores the statement in its own words.
-- corrects: a memory of the scope that the statement ends.
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
            trust text, entities text[], valid_from timestamptz, sources bigint[], reason text,
            language text, profile jsonb, repeats uuid, corrects uuid)
    LOOP
        PERFORM FROM slowwave.memories m
        WHERE m.id = v_candidate.repeats AND m.scope_id = p_scope_id AND m.status IN ('inbox', 'episode', 'active')
          AND m.superseded_by IS NULL
        FOR UPDATE;
        IF FOUND THEN
            PERFORM slowwave.reinforce_memory(
                v_candidate.repeats, NULL, p_session_id, p_flush_id, v_candidate.confidence, v_candidate.importance,
                v_candidate.trust, v_candidate.valid_from, v_candidate.sources, p_now);
            repeated := repeated + 1;
            CONTINUE;
        END IF;
        SELECT * INTO v_memory FROM slowwave.store_memory(
            p_scope_id, p_session_id, p_flush_id, v_candidate.content, decode(v_candidate.hash, 'hex'),
            v_candidate.type, v_candidate.status, v_candidate.confidence, v_candidate.importance, v_candidate.trust,
            v_candidate.entities, v_candidate.valid_from, v_candidate.sources, v_candidate.reason, p_now,
            coalesce(v_candidate.language, 'en'), coalesce(v_candidate.profile, '[]'));
        stored := stored + v_memory.is_new::integer;
        repeated := repeated + (NOT v_memory.is_new)::integer;
        IF v_candidate.corrects IS NOT NULL THEN
            PERFORM slowwave.correct_memory(p_scope_id, v_memory.id, v_candidate.corrects, p_flush_id, p_now);
        END IF;
    END LOOP;
    UPDATE slowwave.flushes f
    SET candidates = jsonb_array_length(p_candidates), stored = store_candidates.stored,
        repeated = store_candidates.repeated
    WHERE f.id = p_flush_id;
END
$$;
