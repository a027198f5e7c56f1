-- request_excess_flushes: request a flush of each agent's dirty sessions beyond the p_most that were seen last.
--
-- A session in back-off keeps its back-off: too many dirty sessions are no reason to retry a flush that has just
-- failed. The function reads single sessions only of agents with more than p_most dirty sessions. Returns the number of
-- sessions.
CREATE OR REPLACE FUNCTION slowwave.request_excess_flushes(p_most integer, p_limit integer, p_now timestamptz) RETURNS integer
LANGUAGE sql
AS $$
    WITH busy AS MATERIALIZED (
        SELECT s.agent_id FROM slowwave.sessions s
        WHERE s.dirty_since IS NOT NULL
        GROUP BY s.agent_id
        HAVING count(*) > p_most
    ), placed AS MATERIALIZED (
        SELECT s.id, s.invalidated_at,
               row_number() OVER (PARTITION BY s.agent_id ORDER BY s.last_seen_at DESC, s.id DESC) AS place
        FROM busy b
        JOIN slowwave.sessions s ON s.agent_id = b.agent_id
        WHERE s.dirty_since IS NOT NULL
    ), beyond AS (
        SELECT s.id FROM slowwave.sessions s
        WHERE s.id IN (
                SELECT p.id FROM placed p WHERE p.place > p_most AND p.invalidated_at IS NULL ORDER BY p.id LIMIT p_limit)
          AND s.dirty_since IS NOT NULL AND s.invalidated_at IS NULL
        ORDER BY s.id
        FOR NO KEY UPDATE SKIP LOCKED
    ), asked AS (
        UPDATE slowwave.sessions s SET
            invalidated_at = s.last_seq, invalidated_by = 'capacity', flush_due_at = greatest(p_now, s.not_before)
        FROM beyond WHERE s.id = beyond.id
        RETURNING s.id
    )
    SELECT count(*)::integer FROM asked
$$;
