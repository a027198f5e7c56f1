-- boost_sessions: a prompt arrived for one session of an agent; ask for its other dirty sessions now, oldest first.
--
-- Runs on the reply path: rows that are locked are skipped, never waited for, and the commit does not wait for the
-- disk, since a lost boost costs only time. Sessions in back-off are left alone: boosting cannot mend them.
-- The due time stays, so that no index is touched: the caller offers what this answers, and should that offer be lost,
-- the session is offered when it would have been anyway.
CREATE OR REPLACE FUNCTION slowwave.boost_sessions(
    p_tenant text, p_agent text, p_session text, p_limit integer, p_now timestamptz DEFAULT NULL
) RETURNS TABLE (session text)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_tenant(p_tenant); END IF;
    PERFORM set_config('synchronous_commit', 'off', true);
    -- Scalar subqueries run first and once, so that each step is a walk along one index whatever the planner thinks of
    -- the tables: the agent, the first of its dirty sessions in the order of the index, these rows alone.
    RETURN QUERY
    UPDATE slowwave.sessions s SET
        boosted_at = v_now,
        invalidated_at = s.last_seq,
        invalidated_by = 'prompt'
    WHERE s.id = ANY (ARRAY(
        SELECT d.id
        FROM slowwave.sessions d
        WHERE d.agent_id = (SELECT a.id FROM slowwave.agents a WHERE a.tenant = p_tenant AND a.name = p_agent)
          AND d.dirty_since IS NOT NULL AND d.name <> p_session
          AND (d.not_before IS NULL OR d.not_before <= v_now)
        ORDER BY d.dirty_since
        LIMIT p_limit
        FOR NO KEY UPDATE SKIP LOCKED))
    RETURNING s.name;
END
$$;
