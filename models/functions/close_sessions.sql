-- close_sessions: dirty sessions that nobody has seen for p_ttl_seconds get a last flush now, whatever else they wait
-- for. Once: one that was closed and fails again waits for its back-off like any other. Nothing is dropped.
--
-- What was not seen for so long has been dirty for so long: that is what an index finds, among all that is dirty.
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
