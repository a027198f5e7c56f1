-- remove_events: delete removable events with their search passages, and count them, so that the day adds up (I5).
--
-- The function locks the session as capture and flush do, so no event is counted or flushed meanwhile. It locks the day
-- too, so no summary begins. Returns the number of deleted events, or NULL if another transaction holds the session or
-- the session is deleted.
CREATE OR REPLACE FUNCTION slowwave.remove_events(
    p_session_id bigint, p_day date, p_before timestamptz, p_limit integer
) RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    v_seqs bigint[];
    v_gone integer;
BEGIN
    PERFORM FROM slowwave.sessions s WHERE s.id = p_session_id FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM FROM slowwave.days y
    JOIN slowwave.session_days d ON y.agent_id = d.agent_id AND y.scope_id = d.scope_id AND y.day = d.day
    WHERE d.session_id = p_session_id AND d.day = p_day
    FOR NO KEY UPDATE OF y;
    v_seqs := ARRAY(SELECT r.seq FROM slowwave.removable_events(p_session_id, p_day, p_before, p_limit) AS r);
    DELETE FROM slowwave.passages p WHERE p.session_id = p_session_id AND p.seq = ANY (v_seqs);
    DELETE FROM slowwave.events e WHERE e.session_id = p_session_id AND e.seq = ANY (v_seqs);
    GET DIAGNOSTICS v_gone = ROW_COUNT;
    UPDATE slowwave.session_days d SET removed = d.removed + v_gone
    WHERE d.session_id = p_session_id AND d.day = p_day AND v_gone > 0;
    RETURN v_gone;
END
$$;
