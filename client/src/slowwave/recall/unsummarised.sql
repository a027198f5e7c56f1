-- Of the reader's last local days the last events that no summary covers, but for the reader's own session.
WITH bounds AS (
    SELECT slowwave.local_day(%(now)s::timestamptz, coalesce(max(a.time_zone), 'UTC'), coalesce(max(a.cutoff_hour), 0)) - %(days)s::integer + 1 AS since,
           max(a.id) AS agent_id
    FROM slowwave.agents a
    WHERE a.tenant = %(tenant)s AND a.name = %(agent)s
), open_days AS (
    SELECT d.session_id, d.day, d.agent_id, d.scope_id, d.from_seq, d.to_seq, s.name,
           d.total_messages - d.summarized AS beyond,
           row_number() OVER (PARTITION BY d.day ORDER BY s.last_seen_at DESC, s.id) AS place
    FROM bounds b
    JOIN slowwave.session_days d ON d.pending AND d.day >= b.since AND d.scope_id = ANY (%(scopes)s::bigint[])
    JOIN slowwave.sessions s ON s.id = d.session_id
    WHERE NOT (s.name = %(session)s::text AND s.agent_id IS NOT DISTINCT FROM b.agent_id)
)
SELECT d.day, a.name AS agent, d.scope_id, d.name AS session, e.seq, coalesce(e.name, e.role) AS speaker,
       left(coalesce(p.redacted, e.content), %(characters)s::integer) AS content, e.happened_at
FROM (SELECT * FROM open_days o WHERE o.place <= %(sessions)s ORDER BY o.day DESC, o.place LIMIT %(most)s) AS d
JOIN slowwave.agents a ON a.id = d.agent_id AND a.deleted_at IS NULL
CROSS JOIN LATERAL (
    -- A session's summary covers the first of the day's events: what it doesn't are the last ones.
    SELECT * FROM slowwave.events e
    WHERE e.session_id = d.session_id AND e.day = d.day
      AND e.seq BETWEEN greatest(d.from_seq, d.to_seq - %(reach)s::integer) AND d.to_seq
    ORDER BY e.seq DESC
    LIMIT least(d.beyond, %(lines)s)
) AS e
LEFT JOIN slowwave.passages p ON p.session_id = e.session_id AND p.seq = e.seq
WHERE e.kind <> 'task' OR e.metadata ->> 'event' IN ('run_queued', 'run_finished', 'run_failed', 'run_blocked')
ORDER BY d.day DESC, e.happened_at, e.session_id, e.seq
