-- read_memories: the memories of one scope, the newest first, or one memory by its id; each as JSON (memory_record).
--
--   p_kind, p_name      the scope; both NULL with p_id
--   p_id                one memory of the tenant, whatever its scope and status; then the other parameters are ignored
--   p_status            NULL for all but archived memories
--   p_as_of             only memories that held at that moment
--   p_as_of_day         the same for the end of a day in the time zone of p_agent
--   p_before, p_before_id   read on behind the memory with this valid_from and id
CREATE OR REPLACE FUNCTION slowwave.read_memories(
    p_tenant text, p_agent text, p_kind text, p_name text, p_id uuid, p_status text, p_type text, p_as_of timestamptz,
    p_as_of_day date, p_before timestamptz, p_before_id uuid, p_limit integer
) RETURNS TABLE (record jsonb)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    v_scope_id bigint;
    v_as_of timestamptz := p_as_of;
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_tenant(p_tenant); END IF;
    IF p_id IS NOT NULL THEN
        RETURN QUERY
        SELECT slowwave.memory_record(m.id) FROM slowwave.memories m
        JOIN slowwave.scopes k ON k.id = m.scope_id
        WHERE m.id = p_id AND k.tenant = p_tenant;
        RETURN;
    END IF;
    SELECT k.id INTO v_scope_id FROM slowwave.scopes k
    WHERE k.tenant = p_tenant AND k.kind = p_kind AND k.name = p_name;
    IF NOT FOUND THEN RETURN; END IF;
    IF p_as_of_day IS NOT NULL THEN
        SELECT (p_as_of_day + 1)::timestamp AT TIME ZONE coalesce(
            (SELECT a.time_zone FROM slowwave.agents a WHERE a.tenant = p_tenant AND a.name = p_agent), 'UTC'
        ) - interval '1 microsecond' INTO v_as_of;
    END IF;
    RETURN QUERY
    SELECT slowwave.memory_record(m.id) FROM (
        SELECT * FROM slowwave.memories n
        WHERE n.scope_id = v_scope_id
          AND CASE WHEN p_status IS NULL THEN n.status <> 'archived' ELSE n.status = p_status END
          AND (p_type IS NULL OR n.type = p_type)
          AND (v_as_of IS NULL OR n.valid_from <= v_as_of AND (n.valid_to IS NULL OR n.valid_to > v_as_of))
          AND (p_before IS NULL OR n.valid_from <= p_before AND (n.valid_from, n.id) < (p_before, p_before_id))
        ORDER BY n.valid_from DESC, n.id DESC
        LIMIT p_limit
    ) AS m
    ORDER BY m.valid_from DESC, m.id DESC;
END
$$;
