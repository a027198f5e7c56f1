-- pair_memories: what belongs beside memories that a search found: whether they have ended, and the other statements
-- about the same matter.
--
-- p_scopes: the scopes that the reader may read; p_ids: the memories that were found.
-- Each row names a memory (found: one of those, or the one that holds today instead of it) and its relation to the
-- memory of the row:
--   self      the found memory itself, which has ended
--   current   the memory that holds today instead of the found one, which has ended: the last one of its successors
--   replaced  the memory that the found one replaced last
--   conflict  the other side of an open conflict; both sides must hold
-- The function returns no row for a memory that neither ended nor replaced nor contradicts anything.
CREATE OR REPLACE FUNCTION slowwave.pair_memories(p_scopes bigint[], p_ids uuid[])
RETURNS TABLE (
    found text, relation text, id text, seq bigint, content text, status text, valid_from timestamptz,
    valid_to timestamptz, scope_id bigint, type text, speaker text, superseded_by text, sources jsonb
)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_scopes(p_scopes); END IF;
    RETURN QUERY
    WITH RECURSIVE asked AS MATERIALIZED (
        SELECT m.id, m.valid_to, m.superseded_by
        FROM unnest(p_ids) AS k (id)
        CROSS JOIN LATERAL (SELECT * FROM slowwave.memories s WHERE s.id = k.id OFFSET 0) AS m
        WHERE m.scope_id = ANY (p_scopes)
    ), successors AS (
        -- A chain of replacements; the depth ends a ring.
        SELECT a.id AS found, a.superseded_by AS id, 1 AS depth FROM asked a WHERE a.superseded_by IS NOT NULL
        UNION ALL
        SELECT s.found, m.superseded_by, s.depth + 1
        FROM successors s
        JOIN slowwave.memories m ON m.id = s.id
        WHERE m.superseded_by IS NOT NULL AND s.depth < 8
    ), last_ones AS MATERIALIZED (
        SELECT DISTINCT ON (s.found) s.found, s.id
        FROM successors s
        JOIN slowwave.memories m ON m.id = s.id
        WHERE m.status IN ('inbox', 'episode', 'active')
        ORDER BY s.found, s.depth DESC
    ), holding AS MATERIALIZED (
        SELECT a.id FROM asked a WHERE a.valid_to IS NULL
        UNION
        SELECT l.id FROM last_ones l
    ), disputed AS MATERIALIZED (
        SELECT h.id AS found, c.conflicting_memory_id AS id, c.scope_id
        FROM holding h
        CROSS JOIN LATERAL (SELECT * FROM slowwave.memory_conflicts s WHERE s.memory_id = h.id OFFSET 0) AS c
        WHERE c.status = 'open'
        UNION
        SELECT h.id, c.memory_id, c.scope_id
        FROM holding h
        CROSS JOIN LATERAL (
            SELECT * FROM slowwave.memory_conflicts s WHERE s.conflicting_memory_id = h.id OFFSET 0
        ) AS c
        WHERE c.status = 'open'
    ), related AS (
        SELECT a.id AS found, 'self' AS relation, a.id FROM asked a WHERE a.valid_to IS NOT NULL
        UNION ALL
        SELECT l.found, 'current', l.id FROM last_ones l
        UNION ALL
        SELECT h.id, 'replaced', o.id
        FROM holding h
        CROSS JOIN LATERAL (
            SELECT s.id FROM slowwave.memories s
            WHERE s.superseded_by = h.id AND s.status IN ('inbox', 'episode', 'active') AND s.valid_to IS NOT NULL
            ORDER BY s.valid_to DESC, s.id DESC
            LIMIT 1
        ) AS o
        UNION ALL
        SELECT d.found, 'conflict', d.id
        FROM disputed d
        JOIN slowwave.memories m ON m.id = d.id
        WHERE m.scope_id = d.scope_id AND m.status IN ('inbox', 'episode', 'active') AND m.valid_to IS NULL
    )
    SELECT r.found::text, r.relation, m.id::text, NULL::bigint, m.content, m.status, m.valid_from, m.valid_to,
           m.scope_id, m.type, NULL::text, m.superseded_by::text,
           coalesce((
               SELECT jsonb_agg(jsonb_build_array(x.session_id, s.name, x.seq) ORDER BY s.id, x.seq)
               FROM slowwave.memory_sources x
               JOIN slowwave.sessions s ON s.id = x.session_id
               WHERE x.memory_id = m.id
           ), '[]')
    FROM related r
    JOIN slowwave.memories m ON m.id = r.id
    WHERE m.scope_id = ANY (p_scopes)
    ORDER BY r.found, r.relation, m.valid_from, m.id;
END
$$;
