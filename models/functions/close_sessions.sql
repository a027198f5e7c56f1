-- close_sessions: request a last flush of dirty sessions that were last seen at least p_ttl_seconds ago.
--
-- The flush is due now, even if the session is in back-off. A session is closed once: if its flush fails again, it
-- waits for its back-off like any other session. No event is dropped. Returns the number of sessions closed.
--
-- A dirty session that was not seen for so long has been dirty for at least as long. So the condition on dirty_since
-- lets an index find these sessions among all dirty sessions.
CREATE OR REPLACE FUNCTION slowwave.close_sessions(p_ttl_seconds double precision, p_limit integer, p_now timestamptz)
RETURNS integer
LANGUAGE sql
AS $$
    WITH over AS (
        SELECT s.id FROM slowwave.sessions s
        WHERE s.dirty_since <= p_now - make_interval(secs => p_ttl_seconds)
          AND s.last_seen_at <= p_now - make_interval(secs => p_ttl_seconds)
          AND (s.invalidated_at IS NULL OR s.flush_due_at IS NULL OR s.not_before > p_now)
          AND coalesce(s.invalidated_by, '') NOT IN ('ttl', 'stale')
        ORDER BY s.id
        LIMIT p_limit
        FOR NO KEY UPDATE SKIP LOCKED
    ), closed AS (
        UPDATE slowwave.sessions s SET
            invalidated_at = s.last_seq, invalidated_by = 'ttl', not_before = NULL, flush_due_at = p_now
        FROM over WHERE s.id = over.id
        RETURNING s.id
    )
    SELECT count(*)::integer FROM closed
$$;
