-- request_stale_flushes: request a last flush of old dirty sessions that have no due time or are in back-off.
--
-- A session is old if it was last seen at least p_stale_seconds ago. Nothing would make these sessions due soon. No
-- dirty session is ever dropped. The function repairs a lost due time and ends a back-off that has outlived its cause.
CREATE OR REPLACE FUNCTION slowwave.request_stale_flushes(p_stale_seconds double precision, p_limit integer, p_now timestamptz)
RETURNS integer
LANGUAGE sql
AS $$
    WITH stale AS (
        SELECT s.id FROM slowwave.sessions s
        WHERE s.dirty_since <= p_now - make_interval(secs => p_stale_seconds)
          AND s.last_seen_at <= p_now - make_interval(secs => p_stale_seconds)
          AND (s.flush_due_at IS NULL OR s.not_before > p_now)
          AND s.invalidated_by IS DISTINCT FROM 'stale'
        ORDER BY s.id
        LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    ), woken AS (
        UPDATE slowwave.sessions s SET
            invalidated_at = s.last_seq, invalidated_by = 'stale', not_before = NULL, flush_due_at = p_now
        FROM stale WHERE s.id = stale.id
        RETURNING s.id
    )
    SELECT count(*)::integer FROM woken
$$;
