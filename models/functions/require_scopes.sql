-- require_scopes: raise insufficient_privilege unless this login may read all scopes in p_scopes.
--
-- A scope of another tenant and a scope that does not exist both raise the error. Workers and the owner may read all
-- scopes.
CREATE OR REPLACE FUNCTION slowwave.require_scopes(p_scopes bigint[]) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_login record;
BEGIN
    SELECT l.tenant, l.role INTO v_login FROM slowwave.logins l WHERE l.login = session_user::text;
    IF v_login.role = 'worker' OR v_login.role IS NULL AND pg_has_role(session_user, current_user, 'MEMBER') THEN
        RETURN;
    END IF;
    IF v_login.role = 'gateway' THEN
        v_login.tenant := slowwave.current_tenant();
    END IF;
    PERFORM FROM unnest(p_scopes) AS given (id)
    LEFT JOIN slowwave.scopes k ON k.id = given.id
    WHERE v_login.tenant IS NULL OR k.tenant IS DISTINCT FROM v_login.tenant;
    IF FOUND THEN
        RAISE insufficient_privilege
            USING MESSAGE = format('login %I may not read scopes of another tenant', session_user),
                  HINT = 'slowwave admin roles list shows which login belongs to which tenant';
    END IF;
END
$$;
