-- reinforce_from_note: add a note as evidence of an existing memory, and score the memory again.
--
-- p_via: the merged memory that brings the note, or NULL.
CREATE OR REPLACE FUNCTION slowwave.reinforce_from_note(
    p_memory_id uuid, p_via uuid, p_item uuid, p_run_id bigint, p_by text, p_confidence double precision,
    p_importance double precision, p_trust text, p_said_at timestamptz, p_reason text, p_now timestamptz
) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_old record;
BEGIN
    SELECT m.confidence, m.importance, m.valid_from INTO STRICT v_old
    FROM slowwave.memories m
    WHERE m.id = p_memory_id
    FOR UPDATE;
    INSERT INTO slowwave.memory_notes (memory_id, working_id, confidence, importance, trust, holds_from, via)
    VALUES (p_memory_id, p_item, p_confidence, p_importance, p_trust, p_said_at, p_via)
    ON CONFLICT DO NOTHING;
    PERFORM slowwave.score_memory(p_memory_id, p_now);
    INSERT INTO slowwave.memory_changes (memory_id, run_id, made_by, action, before, after, reason, made_at)
    SELECT p_memory_id, p_run_id, p_by, 'repeated',
           jsonb_build_object('confidence', v_old.confidence, 'importance', v_old.importance,
                              'valid_from', v_old.valid_from),
           jsonb_build_object('confidence', m.confidence, 'importance', m.importance, 'valid_from', m.valid_from,
                              'noted', p_item),
           p_reason, p_now
    FROM slowwave.memories m WHERE m.id = p_memory_id;
END
$$;
