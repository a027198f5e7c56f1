-- removable_events: return the sequence numbers of the events of a session's day that nothing needs any more.
--
-- Such an event was said and received before p_before. It is flushed, is part of a kept segment and is not quarantined.
-- It is not a source of a live memory, neither in the memory's own words nor in the words of a memory that was merged
-- into it.
--
-- The day must be final and stay final. A late event opens the day again, whatever status its row has, because the day
-- then counts more events than were summarized (I5). No worker may be summarizing the day.
CREATE OR REPLACE FUNCTION slowwave.removable_events(
    p_session_id bigint, p_day date, p_before timestamptz, p_limit integer
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
