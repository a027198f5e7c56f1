-- remember_delayed: run `remember` for a note that was taken at p_taken and has waited since.
--
-- All results are NULL if the agent, session or scope of the note was forgotten in the meantime.
--
-- The function locks the rows of the agent and the scope before it reads the fence (slowwave.erased_names). So it waits
-- for a forget in progress and sees the fence of that forget.
CREATE OR REPLACE FUNCTION slowwave.remember_delayed(
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
    p_taken timestamptz,
    OUT id uuid, OUT is_new boolean, OUT expires_at timestamptz
)
LANGUAGE plpgsql
AS $$
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_tenant(p_tenant); END IF;
    PERFORM FROM slowwave.agents a WHERE a.tenant = p_tenant AND a.name = p_agent FOR KEY SHARE;
    PERFORM FROM slowwave.scopes k
    WHERE k.tenant = p_tenant AND k.kind = p_scope_kind AND k.name = p_scope_name FOR KEY SHARE;
    PERFORM FROM slowwave.erased_names n
    WHERE n.tenant = p_tenant AND n.erased_at >= p_taken
      AND (n.agent = p_agent AND n.session IN ('', p_session)
           OR n.agent = '' AND n.session = p_scope_kind || ':' || p_scope_name);
    IF FOUND THEN
        RETURN;
    END IF;
    SELECT r.id, r.is_new, r.expires_at INTO id, is_new, expires_at
    FROM slowwave.remember(
        p_tenant, p_agent, p_scope_kind, p_scope_name, p_session, p_type, p_content, p_importance, p_marked, p_key,
        p_ttl_seconds, coalesce(p_said_at, p_taken), p_time_zone, p_cutoff_hour) AS r;
END
$$;
