-- reinforce_memory: add sources as evidence of an existing memory, and score the memory again.
--
-- p_via: the merged memory that brings the sources, or NULL.
CREATE OR REPLACE FUNCTION slowwave.reinforce_memory(
    p_memory_id uuid, p_via uuid, p_session_id bigint, p_flush_id bigint, p_confidence double precision,
    p_importance double precision, p_trust text, p_valid_from timestamptz, p_sources bigint[], p_now timestamptz
) RETURNS void
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_old record;
BEGIN
    SELECT m.confidence, m.importance, m.valid_from,
           EXISTS (SELECT FROM slowwave.memory_sources x
                   WHERE x.memory_id = m.id AND x.session_id = p_session_id) AS heard_here
    INTO STRICT v_old
    FROM slowwave.memories m
    WHERE m.id = p_memory_id
    FOR UPDATE;
    PERFORM slowwave.add_source(
        p_memory_id, p_session_id, p_sources, p_confidence, p_importance, p_trust, p_valid_from, p_via);
    PERFORM slowwave.score_memory(p_memory_id, p_now);
    INSERT INTO slowwave.memory_changes (memory_id, flush_id, action, before, after, reason, made_at)
    SELECT p_memory_id, p_flush_id, 'repeated',
           jsonb_build_object('confidence', v_old.confidence, 'importance', v_old.importance,
                              'valid_from', v_old.valid_from),
           jsonb_build_object('confidence', m.confidence, 'importance', m.importance,
                              'valid_from', m.valid_from, 'sources', p_sources),
           CASE WHEN v_old.heard_here THEN 'said again in the same session' ELSE 'said in another session' END
               || CASE WHEN p_via IS NULL THEN '' ELSE ', in the words of a memory that was merged into this one' END,
           p_now
    FROM slowwave.memories m WHERE m.id = p_memory_id;
END
$$;
