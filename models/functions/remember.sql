-- remember: add an item to an agent's working memory, in one statement and one round trip.
--
-- The function creates the agent and the scope if they are new. If the agent has used the key before, the call changes
-- nothing and raises no error.
--
-- p_said_at: when the item was said; the default is now, and so is a time more than a day ahead.
-- The item expires p_ttl_seconds after it arrived, whatever p_said_at is. An item that was said long ago and arrived
-- late is still worth consolidating.
CREATE OR REPLACE FUNCTION slowwave.remember(
    p_tenant text,
    p_agent text,
    p_scope_kind text,
    p_scope_name text,
    p_session text,
    p_type text,
    p_content text,
    p_importance double precision,
    p_marked boolean,
    p_key text,
    p_ttl_seconds double precision,
    p_said_at timestamptz,
    p_time_zone text,
    p_cutoff_hour integer,
    p_now timestamptz DEFAULT NULL,
    OUT id uuid, OUT is_new boolean, OUT expires_at timestamptz
)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := coalesce(p_now, clock_timestamp());
    v_agent_id bigint;
    v_scope_id bigint;
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_tenant(p_tenant); END IF;
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
        WHERE k.tenant = p_tenant AND k.kind = p_scope_kind AND k.name = p_scope_name;
        EXIT WHEN FOUND;
        INSERT INTO slowwave.scopes (tenant, kind, name) VALUES (p_tenant, p_scope_kind, p_scope_name)
        ON CONFLICT DO NOTHING;
    END LOOP;
    INSERT INTO slowwave.working_memory AS w (
        agent_id, scope_id, session, type, content, importance, marked, key, said_at, expires_at
    ) VALUES (
        v_agent_id, v_scope_id, p_session, p_type, p_content, p_importance, p_marked, p_key,
        CASE WHEN p_said_at <= v_now + interval '1 day' THEN p_said_at ELSE v_now END,
        v_now + make_interval(secs => p_ttl_seconds)
    )
    ON CONFLICT (agent_id, key) WHERE key IS NOT NULL DO NOTHING
    RETURNING w.id, w.expires_at INTO id, expires_at;
    is_new := FOUND;
    IF NOT is_new THEN
        SELECT w.id, w.expires_at INTO STRICT id, expires_at
        FROM slowwave.working_memory w
        WHERE w.agent_id = v_agent_id AND w.key = p_key;
    END IF;
END
$$;
