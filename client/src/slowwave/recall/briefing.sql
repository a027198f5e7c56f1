-- Memories for the beginning of a conversation, with the question unknown: the most important and the newest of each
-- scope, weighed by importance and age. Both ends of two indexes are read, never a scope.
SELECT m.id::text AS id, NULL::bigint AS seq, m.content, m.status, m.valid_from, m.scope_id, m.type, NULL AS speaker,
       m.weight, m.valid_from >= %(since)s::timestamptz AS recent,
       coalesce((
           SELECT jsonb_agg(jsonb_build_array(x.session_id, s.name, x.seq) ORDER BY s.id, x.seq)
           FROM slowwave.memory_sources x
           JOIN slowwave.sessions s ON s.id = x.session_id
           WHERE x.memory_id = m.id
       ), '[]') AS sources
FROM (
    SELECT b.*,
           -- Half of its weight after a month, a third after two: what mattered once is never quite gone.
           b.importance / (1 + greatest(extract(epoch FROM %(now)s::timestamptz - b.valid_from), 0) / 2592000) AS weight
    FROM unnest(%(scopes)s::bigint[]) AS k (id)
    CROSS JOIN LATERAL (
        (SELECT i.* FROM slowwave.memories i
         WHERE i.scope_id = k.id AND i.status IN ('inbox', 'episode', 'active') AND i.valid_to IS NULL
         ORDER BY i.importance DESC, i.valid_from DESC
         LIMIT %(most)s)
        UNION
        (SELECT n.* FROM slowwave.memories n
         WHERE n.scope_id = k.id AND n.status IN ('inbox', 'episode', 'active') AND n.status <> 'archived'
           AND n.valid_to IS NULL
         ORDER BY n.valid_from DESC
         LIMIT %(most)s)
    ) AS b
) AS m
ORDER BY m.weight DESC, m.id DESC
