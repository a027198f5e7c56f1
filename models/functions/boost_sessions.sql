-- boost_sessions: mark the other dirty sessions of an agent for processing now, oldest first, after a prompt.
--
-- The function runs while a reply waits. It skips locked rows instead of waiting for them. The commit does not wait for
-- the disk, since a lost boost costs only time. The function skips sessions in back-off, because a boost cannot fix
-- their failure.
-- The function does not change flush_due_at, so Postgres updates no index. The caller offers the sessions that the
-- function returns. If that offer is lost, the sweep offers each session at its regular due time.
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
    -- Postgres runs scalar subqueries first and once. So each step scans one index, whatever the planner estimates for
    -- the tables: the agent, its first dirty sessions in the order of the index, then only these rows.
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
