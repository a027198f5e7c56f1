-- require_tenant: raise insufficient_privilege unless this login may act for p_tenant. Workers and the owner may act for all.
CREATE OR REPLACE FUNCTION slowwave.require_tenant(p_tenant text) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM slowwave.logins l
    WHERE l.login = session_user::text AND (l.tenant = p_tenant OR l.role = 'worker');
    -- Who may become the owner anyway is not kept from what the owner may do.
    IF NOT FOUND AND NOT pg_has_role(session_user, current_user, 'MEMBER') THEN
        RAISE insufficient_privilege
            USING MESSAGE = format('login %I may not act for tenant %L', session_user, left(p_tenant, 200)),
                  HINT = 'slowwave roles list shows which login belongs to which tenant';
    END IF;
END
$$;
