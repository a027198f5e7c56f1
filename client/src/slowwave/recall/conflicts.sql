-- Open contradictions of these scopes: those of the memories that are shown, and of the newest those that matter.
-- Both sides must hold as far as anybody has decided; a side a row, the one that holds longer first.
WITH named AS (
    SELECT c.id FROM slowwave.memory_conflicts c
    WHERE c.memory_id = ANY (%(shown)s::uuid[]) AND c.status = 'open'
    UNION
    SELECT c.id FROM slowwave.memory_conflicts c
    WHERE c.conflicting_memory_id = ANY (%(shown)s::uuid[]) AND c.status = 'open'
    UNION
    (SELECT c.id FROM slowwave.memory_conflicts c
     WHERE c.scope_id = ANY (%(scopes)s::bigint[]) AND c.status = 'open'
     ORDER BY c.id DESC
     LIMIT %(reach)s)
), chosen AS (
    SELECT c.id, c.reason, ARRAY[o.id, n.id] AS sides, greatest(o.importance, n.importance) AS importance,
           o.id = ANY (%(shown)s::uuid[]) OR n.id = ANY (%(shown)s::uuid[]) AS is_shown
    FROM named k
    JOIN slowwave.memory_conflicts c ON c.id = k.id AND c.scope_id = ANY (%(scopes)s::bigint[])
    JOIN slowwave.memories o ON o.id = c.memory_id AND o.status IN ('inbox', 'episode', 'active') AND o.valid_to IS NULL
    JOIN slowwave.memories n
        ON n.id = c.conflicting_memory_id AND n.status IN ('inbox', 'episode', 'active') AND n.valid_to IS NULL
    WHERE o.id = ANY (%(shown)s::uuid[]) OR n.id = ANY (%(shown)s::uuid[])
       OR greatest(o.importance, n.importance) >= %(important)s
    ORDER BY is_shown DESC, importance DESC, c.id DESC
    LIMIT %(most)s
)
SELECT c.id AS conflict, c.reason, m.id::text AS id, NULL::bigint AS seq, m.content, m.status, m.valid_from, m.scope_id,
       m.type, NULL AS speaker, m.importance AS weight,
       coalesce((
           SELECT jsonb_agg(jsonb_build_array(x.session_id, s.name, x.seq) ORDER BY s.id, x.seq)
           FROM slowwave.memory_sources x
           JOIN slowwave.sessions s ON s.id = x.session_id
           WHERE x.memory_id = m.id
       ), '[]') AS sources
FROM chosen c
JOIN slowwave.memories m ON m.id = ANY (c.sides)
ORDER BY c.is_shown DESC, c.importance DESC, c.id DESC, m.valid_from, m.id
