-- claim_due: claim the sessions that are due, at most p_limit in all and at most p_per_agent of one agent.
--
-- The function moves flush_due_at of each claimed session on by p_retry_seconds. So the next sweep claims other
-- sessions instead of the same ones. A committed flush computes flush_due_at again. The function skips rows that
-- another sweep has locked.
-- The claim is fair. The function reads the index in the order of due time, in rounds, and leaves an agent that has its
-- share out of the next round. So one agent with thousands of due sessions costs the other agents an index scan, but it
-- does not delay their sessions.
-- Capture does not move the due time when more events arrive, so such a session comes up too early. The function sets
-- the time at which the session is really due, and does not return the session.
CREATE OR REPLACE FUNCTION slowwave.claim_due(
    p_limit integer, p_per_agent integer, p_retry_seconds double precision,
    p_idle_seconds double precision, p_max_dirty_age_seconds double precision, p_now timestamptz
) RETURNS TABLE (tenant text, agent text, session text, boosted boolean)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_taken bigint[] := '{}';
    v_full bigint[] := '{}';
    v_round bigint[];
    v_agents bigint[];
    v_read integer;
BEGIN
    LOOP
        WITH due AS MATERIALIZED (
            SELECT s.id, s.agent_id, s.flush_due_at,
                   CASE WHEN s.invalidated_at IS NULL THEN least(
                       s.last_seen_at + make_interval(secs => p_idle_seconds),
                       s.dirty_since + make_interval(secs => p_max_dirty_age_seconds)) END AS really_due_at
            FROM slowwave.sessions s
            WHERE s.flush_due_at <= p_now AND s.agent_id <> ALL (v_full)
            ORDER BY s.flush_due_at
            LIMIT greatest(p_limit * 4, 500)
        ), early AS (
            SELECT s.id, d.really_due_at
            FROM due d
            JOIN slowwave.sessions s ON s.id = d.id
            WHERE d.really_due_at > p_now AND s.invalidated_at IS NULL
            ORDER BY s.id
            FOR UPDATE OF s SKIP LOCKED
        ), put_right AS (
            UPDATE slowwave.sessions s SET flush_due_at = e.really_due_at FROM early e WHERE s.id = e.id
        ), ranked AS (
            SELECT d.id, d.agent_id, d.flush_due_at,
                   row_number() OVER (PARTITION BY d.agent_id ORDER BY d.flush_due_at, d.id) AS place
            FROM due d
            WHERE d.really_due_at IS NULL OR d.really_due_at <= p_now
        ), chosen AS (
            SELECT r.id, r.agent_id FROM ranked r
            WHERE r.place <= p_per_agent
            ORDER BY r.place, r.flush_due_at
            LIMIT p_limit - cardinality(v_taken)
        ), locked AS (
            -- Read by primary key, so that the number of other due sessions does not matter. The addition keeps the
            -- planner from using the index of due times.
            SELECT s.id, s.agent_id FROM slowwave.sessions s
            WHERE s.id = ANY (ARRAY(SELECT c.id FROM chosen c)) AND s.flush_due_at + interval '0' <= p_now
            ORDER BY s.id
            FOR UPDATE SKIP LOCKED
        )
        SELECT (SELECT count(*) FROM due),
               coalesce((SELECT array_agg(l.id) FROM locked l), '{}'),
               coalesce((SELECT array_agg(DISTINCT d.agent_id) FROM due d), '{}')
        INTO v_read, v_round, v_agents;
        v_taken := v_taken || v_round;
        v_full := v_full || v_agents;
        EXIT WHEN v_read < greatest(p_limit * 4, 500) OR cardinality(v_taken) >= p_limit;
    END LOOP;

    RETURN QUERY
    UPDATE slowwave.sessions s
    SET flush_due_at = p_now + make_interval(secs => p_retry_seconds)
    FROM slowwave.agents a
    WHERE s.id = ANY (v_taken) AND a.id = s.agent_id
    RETURNING a.tenant, a.name, s.name, s.boosted_at IS NOT NULL;
END
$$;
