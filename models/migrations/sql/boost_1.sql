-- boost: a prompt arrived for one session of an agent; ask for its other dirty sessions now, oldest first.
--
-- Runs on the reply path: rows that are locked are skipped, never waited for, and the commit does not wait for the
-- disk, since a lost boost costs only time. Sessions in back-off are left alone: boosting cannot mend them.
CREATE FUNCTION slowwave.boost(
    p_tenant text, p_agent text, p_session text, p_limit integer, p_now timestamptz DEFAULT NULL
) RETURNS TABLE (session text)
LANGUAGE plpgsql
AS $$
DECLARE
    v_now timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN QUERY
    UPDATE slowwave.sessions s SET
        boosted_at = v_now,
        invalidated_at = s.last_seq,
        invalidated_by = 'prompt',
        flush_due_at = least(s.flush_due_at, v_now)
    WHERE s.id IN (
        SELECT d.id
        FROM slowwave.sessions d
        JOIN slowwave.agents a ON a.id = d.agent_id
        WHERE a.tenant = p_tenant AND a.name = p_agent
          AND d.dirty_since IS NOT NULL AND d.name <> p_session
          AND (d.not_before IS NULL OR d.not_before <= v_now)
        ORDER BY d.dirty_since
        LIMIT p_limit
        FOR UPDATE OF d SKIP LOCKED
    )
    RETURNING s.name;
END
$$;
