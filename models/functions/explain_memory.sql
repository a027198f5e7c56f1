-- explain_memory: one memory of the tenant with the events that say it and its history, as JSON; NULL if there is none.
--
-- At most 200 events and 500 changes, the oldest first. Texts stand there as they were said: the reader masks secrets.
CREATE OR REPLACE FUNCTION slowwave.explain_memory(p_tenant text, p_id uuid) RETURNS jsonb
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_tenant(p_tenant); END IF;
    PERFORM FROM slowwave.memories m
    JOIN slowwave.scopes k ON k.id = m.scope_id
    WHERE m.id = p_id AND k.tenant = p_tenant;
    IF NOT FOUND THEN RETURN NULL; END IF;
    RETURN jsonb_build_object(
        'memory', slowwave.memory_record(p_id),
        'sources', (
            SELECT coalesce(jsonb_agg(to_jsonb(e) ORDER BY e.happened_at, e.session, e.seq), '[]')
            FROM (
                SELECT a.name AS agent, t.name AS session, v.seq, v.role, v.name, v.content, v.happened_at, x.via
                FROM slowwave.memory_sources x
                JOIN slowwave.events v ON v.session_id = x.session_id AND v.seq = x.seq
                JOIN slowwave.sessions t ON t.id = x.session_id
                JOIN slowwave.agents a ON a.id = t.agent_id
                WHERE x.memory_id = p_id
                ORDER BY v.happened_at, t.name, v.seq
                LIMIT 200
            ) AS e
        ),
        'changes', (
            SELECT coalesce(jsonb_agg(to_jsonb(c) - 'id' ORDER BY c.id), '[]')
            FROM (
                SELECT h.id, h.action, h.reason, h.made_at, h.flush_id AS flush, h.run_id AS run, h.made_by AS by,
                       h.before, h.after
                FROM slowwave.memory_changes h
                WHERE h.memory_id = p_id
                ORDER BY h.id
                LIMIT 500
            ) AS c
        )
    );
END
$$;
