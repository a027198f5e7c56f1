-- Memories for the beginning of a conversation, with the question unknown: the most important and the newest of each
-- scope, weighed by importance and age. Both ends of two indexes are read, never a scope: 60 rows of each, of which at
-- most 45 are chosen. These numbers are no values, so that the planner knows them: of one scope it plans but once.
WITH pool AS MATERIALIZED (
    SELECT b.id, b.valid_from,
           -- Half of its weight after a month, a third after two: what mattered once is never quite gone.
           b.importance / (1 + greatest(extract(epoch FROM %(now)s::timestamptz - b.valid_from)::float8, 0) / 2592000)
               AS weight
    FROM unnest(%(scopes)s::bigint[]) AS k (id)
    CROSS JOIN LATERAL (
        (SELECT i.id, i.valid_from, i.importance FROM slowwave.memories i
         WHERE i.scope_id = k.id AND i.status IN ('inbox', 'episode', 'active') AND i.valid_to IS NULL
         ORDER BY i.importance DESC, i.valid_from DESC
         LIMIT 60)
        UNION
        (SELECT n.id, n.valid_from, n.importance FROM slowwave.memories n
         WHERE n.scope_id = k.id AND n.status <> 'archived' AND n.status IN ('inbox', 'episode', 'active')
           AND n.valid_to IS NULL
         ORDER BY n.valid_from DESC
         LIMIT 60)
    ) AS b
), placed AS MATERIALIZED (
    SELECT p.*, row_number() OVER (ORDER BY p.weight DESC, p.id DESC) AS by_weight,
           row_number() OVER (ORDER BY p.valid_from DESC, p.id DESC) AS by_age
    FROM pool p
), chosen AS MATERIALIZED (
    SELECT p.id, p.weight, p.by_weight, p.valid_from >= %(since)s::timestamptz AS recent
    FROM placed p
    WHERE p.by_weight <= %(weighty)s OR p.valid_from >= %(since)s::timestamptz AND p.by_age <= %(newest)s
    LIMIT 45
), origins AS (
    -- Of all of them at once: one by one would read the sessions as often.
    SELECT x.memory_id, jsonb_agg(jsonb_build_array(x.session_id, s.name, x.seq) ORDER BY s.id, x.seq) AS sources
    FROM chosen c
    JOIN slowwave.memory_sources x ON x.memory_id = c.id
    JOIN slowwave.sessions s ON s.id = x.session_id
    GROUP BY x.memory_id
)
SELECT m.id::text AS id, NULL::bigint AS seq, m.content, m.status, m.valid_from, m.scope_id, m.type, NULL AS speaker,
       c.weight, c.recent, coalesce(o.sources, '[]') AS sources
FROM chosen c
JOIN slowwave.memories m ON m.id = c.id
LEFT JOIN origins o ON o.memory_id = c.id
ORDER BY c.by_weight
