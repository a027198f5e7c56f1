-- The last events that no flush has read yet, of the sessions of these scopes that were seen last, but for the reader's
-- own session: what is being said elsewhere right now.
SELECT s.name AS session, a.name AS agent, s.scope_id, e.seq, e.kind, coalesce(e.name, e.role) AS speaker,
       left(e.content, %(characters)s::integer) AS content, e.happened_at
FROM (
    SELECT d.id, d.agent_id, d.name, d.scope_id, d.processed_until, d.last_seen_at
    FROM slowwave.sessions d
    WHERE d.scope_id = ANY (%(scopes)s::bigint[]) AND d.dirty_since IS NOT NULL
      AND NOT (d.name = %(session)s::text AND d.agent_id IN (
          SELECT o.id FROM slowwave.agents o WHERE o.tenant = %(tenant)s AND o.name = %(agent)s))
    ORDER BY d.last_seen_at DESC
    LIMIT %(sessions)s
) AS s
JOIN slowwave.agents a ON a.id = s.agent_id
CROSS JOIN LATERAL (
    SELECT * FROM slowwave.events e
    WHERE e.session_id = s.id AND e.seq > s.processed_until
    ORDER BY e.seq DESC
    LIMIT %(lines)s
) AS e
WHERE e.kind <> 'task' OR e.metadata ->> 'event' IN ('run_queued', 'run_finished', 'run_failed', 'run_blocked')
ORDER BY s.last_seen_at DESC, s.id, e.seq
