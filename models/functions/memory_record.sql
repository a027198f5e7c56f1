-- memory_record: one memory as programs read it, as JSON: its columns, the name of its scope, the first 20 events that
-- say it, in how many conversations a context showed it and a reply used it, and the importance that follows from it.
--
-- The function checks nothing: read_memories and explain_memory check the tenant first.
-- What happened to a memory that was merged into this one counts for this one, too.
CREATE OR REPLACE FUNCTION slowwave.memory_record(p_id uuid) RETURNS jsonb
LANGUAGE plpgsql STABLE
-- One plan for a session: planning takes longer than reading, and the callers plan anew each time.
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    RETURN (SELECT jsonb_build_object(
        'id', m.id, 'scope', k.kind || ':' || k.name, 'type', m.type, 'status', m.status,
        'content', m.content, 'confidence', m.confidence, 'importance', m.importance,
        'trust', m.trust, 'valid_from', m.valid_from, 'valid_to', m.valid_to,
        'recorded_at', m.recorded_at, 'superseded_by', m.superseded_by,
        'merged_into', m.merged_into, 'archive_reason', m.archive_reason,
        'revision', m.revision, 'source_count', s.source_count, 'sources', s.sources, 'shown', u.shown,
        'used', u.used, 'last_used_at', u.last_used_at,
        'learned_importance', slowwave.learned_importance(m.importance, m.use_gain)
    )
    FROM slowwave.memories m
    JOIN slowwave.scopes k ON k.id = m.scope_id
    CROSS JOIN LATERAL (
        SELECT coalesce(max(o.total), 0) AS source_count,
               coalesce(jsonb_agg(jsonb_build_object('agent', o.agent, 'session', o.session, 'seq', o.seq)
                                  ORDER BY o.session, o.seq), '[]') AS sources
        FROM (
            SELECT a.name AS agent, t.name AS session, x.seq, count(*) OVER () AS total
            FROM slowwave.memory_sources x
            JOIN slowwave.sessions t ON t.id = x.session_id
            JOIN slowwave.agents a ON a.id = t.agent_id
            WHERE x.memory_id = p_id
            ORDER BY t.name, x.seq
            LIMIT 20
        ) AS o
    ) AS s
    CROSS JOIN LATERAL (
        SELECT count(DISTINCT y.session_id) FILTER (WHERE y.shown_at IS NOT NULL) AS shown,
               count(DISTINCT coalesce(y.session_id, 0)) FILTER (WHERE y.last_used_at IS NOT NULL) AS used,
               max(y.last_used_at) AS last_used_at
        FROM slowwave.memory_uses y
        WHERE y.memory_id = p_id
           OR y.memory_id IN (SELECT p.id FROM slowwave.memories p WHERE p.merged_into = p_id)
    ) AS u
    WHERE m.id = p_id);
END
$$;
