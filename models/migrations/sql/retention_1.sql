-- Bounds of sessions that nobody ends, and what is removed after a time.

-- close_sessions: dirty sessions that nobody has seen for p_ttl_seconds get a last flush now, whatever else they wait
-- for. Once: one that was closed and fails again waits for its back-off like any other. Nothing is dropped.
CREATE FUNCTION slowwave.close_sessions(p_ttl_seconds double precision, p_limit integer, p_now timestamptz)
RETURNS integer
LANGUAGE sql
AS $$
    WITH over AS (
        SELECT s.id FROM slowwave.sessions s
        WHERE s.dirty_since IS NOT NULL
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

-- bound_sessions: of each agent's sessions with unflushed events the p_most that were seen last may wait; the others are
-- asked to flush now. A back-off is kept: this is no reason to try what has just failed.
CREATE FUNCTION slowwave.bound_sessions(p_most integer, p_limit integer, p_now timestamptz) RETURNS integer
LANGUAGE sql
AS $$
    WITH placed AS MATERIALIZED (
        SELECT s.id, s.invalidated_at,
               row_number() OVER (PARTITION BY s.agent_id ORDER BY s.last_seen_at DESC, s.id DESC) AS place
        FROM slowwave.sessions s
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

-- removable_events: the numbers of those events of a session's day that nothing needs any more: said and received before
-- p_before, flushed, part of a kept segment, not set aside, and not where a live memory comes from (its own words, or
-- those of one that was merged into it). p_logged: only what stands in the session's log.
--
-- The day must be final and stay so: a late event makes it open again, whatever its row says, since it counts more then
-- than were summarised (I5), and nobody may be summarising it.
CREATE FUNCTION slowwave.removable_events(
    p_session_id bigint, p_day date, p_before timestamptz, p_logged boolean, p_limit integer
) RETURNS TABLE (seq bigint)
LANGUAGE sql STABLE
AS $$
    SELECT e.seq
    FROM slowwave.sessions s
    JOIN slowwave.session_days d ON d.session_id = s.id AND d.day = p_day AND NOT d.pending
    JOIN slowwave.days y ON y.agent_id = d.agent_id AND y.scope_id = d.scope_id AND y.day = d.day
        AND y.status = 'final' AND y.attempts = 0 AND y.last_summarized_total = (
            SELECT sum(t.total_messages) FROM slowwave.session_days t
            WHERE t.agent_id = y.agent_id AND t.scope_id = y.scope_id AND t.day = y.day)
    JOIN slowwave.events e ON e.session_id = s.id AND e.day = p_day AND e.seq BETWEEN d.from_seq AND d.to_seq
    WHERE s.id = p_session_id
      AND e.recorded_at <= p_before AND e.happened_at <= p_before
      AND e.seq <= s.processed_until
      AND (NOT p_logged OR e.seq <= s.logged_until)
      AND e.quarantined_at IS NULL
      AND EXISTS (
          SELECT FROM slowwave.day_segments g
          WHERE g.agent_id = d.agent_id AND g.scope_id = d.scope_id AND g.day = d.day AND g.session_id = s.id
            AND e.seq BETWEEN g.from_seq AND g.to_seq)
      AND NOT EXISTS (
          SELECT FROM slowwave.memory_sources x
          JOIN slowwave.memories m ON m.id = x.memory_id AND m.status <> 'archived'
          WHERE x.session_id = e.session_id AND x.seq = e.seq)
    ORDER BY e.seq
    LIMIT p_limit
$$;

-- remove_events: take these away with what search knows of them, and count them, so that the day still adds up (I5).
--
-- The session is held, as capture and flush hold it: nothing is counted or flushed meanwhile. So is its day: no summary
-- begins. Answers how many went; NULL where somebody else is at the session, or it is gone.
CREATE FUNCTION slowwave.remove_events(
    p_session_id bigint, p_day date, p_before timestamptz, p_logged boolean, p_limit integer
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
    v_seqs := ARRAY(SELECT r.seq FROM slowwave.removable_events(p_session_id, p_day, p_before, p_logged, p_limit) AS r);
    DELETE FROM slowwave.passages p WHERE p.session_id = p_session_id AND p.seq = ANY (v_seqs);
    DELETE FROM slowwave.events e WHERE e.session_id = p_session_id AND e.seq = ANY (v_seqs);
    GET DIAGNOSTICS v_gone = ROW_COUNT;
    UPDATE slowwave.session_days d SET removed = d.removed + v_gone
    WHERE d.session_id = p_session_id AND d.day = p_day AND v_gone > 0;
    RETURN v_gone;
END
$$;
