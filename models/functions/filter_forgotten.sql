-- filter_forgotten: return the events that were taken after the last forget of their agent, session or scope.
--
-- The function reads p_events, and keeps events without `taken`. The scope is the scope of the session, or the scope
-- with which the session would be created. In slowwave.erased_names, the fence of a scope has agent '' and names the
-- scope as `kind:name` (models.erasures.ErasedName).
CREATE OR REPLACE FUNCTION slowwave.filter_forgotten(p_tenant text, p_agent text, p_session text, p_about jsonb, p_events jsonb)
RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_erased timestamptz;
    v_scope text;
BEGIN
    -- In nearly all calls, the tenant has never forgotten anything.
    IF NOT EXISTS (SELECT FROM slowwave.erased_names n WHERE n.tenant = p_tenant) THEN
        RETURN p_events;
    END IF;
    SELECT k.kind || ':' || k.name INTO v_scope
    FROM slowwave.agents a
    JOIN slowwave.sessions s ON s.agent_id = a.id
    JOIN slowwave.scopes k ON k.id = s.scope_id
    WHERE a.tenant = p_tenant AND a.name = p_agent AND s.name = p_session;
    IF NOT FOUND THEN
        SELECT k.kind || ':' || k.name INTO v_scope FROM slowwave.scope_of(p_agent, p_about) AS k;
    END IF;
    SELECT max(n.erased_at) INTO v_erased
    FROM slowwave.erased_names n
    WHERE n.tenant = p_tenant AND (n.agent = p_agent AND n.session IN ('', p_session)
                                   OR n.agent = '' AND n.session = v_scope);
    IF v_erased IS NULL THEN
        RETURN p_events;
    END IF;
    RETURN (
        SELECT coalesce(jsonb_agg(e.value ORDER BY e.ordinality), '[]')
        FROM jsonb_array_elements(p_events) WITH ORDINALITY AS e
        WHERE e.value ->> 'taken' IS NULL OR (e.value ->> 'taken')::timestamptz > v_erased);
END
$$;
