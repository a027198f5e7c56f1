-- count_days: count the session's events after p_last_seq, each on the local day of its agent.
CREATE OR REPLACE FUNCTION slowwave.count_days(p_session_id bigint, p_last_seq bigint) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO slowwave.session_days AS d (session_id, day, agent_id, scope_id, total_messages, from_seq, to_seq)
    SELECT s.id, e.day, s.agent_id, s.scope_id, count(*), min(e.seq), max(e.seq)
    FROM slowwave.sessions s
    JOIN slowwave.events e ON e.session_id = s.id AND e.seq > p_last_seq
    WHERE s.id = p_session_id
    GROUP BY s.id, e.day
    ON CONFLICT (session_id, day) DO UPDATE
    SET total_messages = d.total_messages + excluded.total_messages, to_seq = excluded.to_seq, pending = true;
END
$$;
