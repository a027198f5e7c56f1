-- The newest summary of each of the reader's last local days, of each agent that writes to these scopes.
WITH bounds AS (
    SELECT slowwave.local_day(%(now)s::timestamptz, coalesce(max(a.time_zone), 'UTC'), coalesce(max(a.cutoff_hour), 0)) - %(days)s::integer + 1 AS since,
           max(a.id) AS agent_id
    FROM slowwave.agents a
    WHERE a.tenant = %(tenant)s AND a.name = %(agent)s
), newest AS (
    -- Without their lines, which are long: of most versions only the number is looked at. The reader's own apart from
    -- those of others, so that a room of many agents leaves them their place.
    (SELECT DISTINCT ON (v.day, v.scope_id) v.id
     FROM bounds b
     JOIN slowwave.day_summaries v
         ON v.scope_id = ANY (%(scopes)s::bigint[]) AND v.day >= b.since AND v.agent_id = b.agent_id
     ORDER BY v.day DESC, v.scope_id, v.version DESC
     LIMIT %(most)s)
    UNION ALL
    (SELECT DISTINCT ON (v.day, v.agent_id, v.scope_id) v.id
     FROM bounds b
     JOIN slowwave.day_summaries v
         ON v.scope_id = ANY (%(scopes)s::bigint[]) AND v.day >= b.since AND v.agent_id IS DISTINCT FROM b.agent_id
     ORDER BY v.day DESC, v.agent_id, v.scope_id, v.version DESC
     LIMIT %(most)s)
)
SELECT v.day, a.name AS agent, v.scope_id, v.version, v.lines,
       CASE WHEN v.lines = '[]' THEN left(v.text, %(characters)s::integer) ELSE '' END AS text,
       -- What was decided last is true only while nothing has been added (I5).
       v.final AND NOT EXISTS (
           SELECT FROM slowwave.session_days d
           WHERE d.pending AND d.day = v.day AND d.agent_id = v.agent_id AND d.scope_id = v.scope_id) AS final
FROM newest n
JOIN slowwave.day_summaries v ON v.id = n.id
JOIN slowwave.agents a ON a.id = v.agent_id AND a.deleted_at IS NULL
ORDER BY v.day DESC, v.agent_id, v.scope_id
