-- open_session: create a session for its first event, and its agent and scope if they are new.
CREATE OR REPLACE FUNCTION slowwave.open_session(
    p_tenant text, p_agent text, p_session text, p_about jsonb, p_time_zone text, p_cutoff_hour integer,
    p_now timestamptz
) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_agent_id bigint;
    v_scope_id bigint;
    v_scope record;
BEGIN
    SELECT k.kind, k.name INTO v_scope FROM slowwave.scope_of(p_agent, p_about) AS k;
    -- At most two passes: the second pass finds the row that this call or another transaction inserted.
    LOOP
        SELECT a.id INTO v_agent_id FROM slowwave.agents a WHERE a.tenant = p_tenant AND a.name = p_agent;
        EXIT WHEN FOUND;
        INSERT INTO slowwave.agents (tenant, name, time_zone, cutoff_hour)
        VALUES (p_tenant, p_agent, p_time_zone, p_cutoff_hour)
        ON CONFLICT DO NOTHING;
    END LOOP;
    LOOP
        SELECT k.id INTO v_scope_id FROM slowwave.scopes k
        WHERE k.tenant = p_tenant AND k.kind = v_scope.kind AND k.name = v_scope.name;
        EXIT WHEN FOUND;
        INSERT INTO slowwave.scopes (tenant, kind, name) VALUES (p_tenant, v_scope.kind, v_scope.name)
        ON CONFLICT DO NOTHING;
    END LOOP;
    INSERT INTO slowwave.sessions (agent_id, scope_id, name, room_id, thread_id, source, last_seen_at)
    VALUES (v_agent_id, v_scope_id, p_session, p_about ->> 'room_id', p_about ->> 'thread_id',
            coalesce(p_about ->> 'source', 'events'), p_now)
    ON CONFLICT DO NOTHING;
END
$$;
