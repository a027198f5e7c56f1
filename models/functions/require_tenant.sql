-- require_tenant: raise insufficient_privilege unless this login may act for p_tenant.
--
-- Workers and the owner may act for all tenants.
--
-- These checks matter if not every login is the owner of the schema. The owner passes every check. slowwave.logins
-- lists the other logins, and none of them can write that table: a producer and a console with their tenant, a worker
-- and a gateway without a tenant. A gateway may act for the tenant of the API key that its session uses
-- (slowwave.current_tenant). The checks use session_user, which is the login itself. Neither SET ROLE, nor a function
-- that runs as its owner, nor a client setting changes session_user.
--
-- Entry functions (capture_session, search, …) run as the owner after `slowwave admin roles apply`. Then they first call
-- require_tenant or require_scopes. Row-level security policies (models/migrations/baseline/access.sql) apply to
-- everything else that such a login reads.
CREATE OR REPLACE FUNCTION slowwave.require_tenant(p_tenant text) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- The login may set anything here, see slowwave.current_tenant. This function runs before each recorded turn, so it
    -- asks with one query what current_tenant would ask with a second one.
    v_key text := current_setting('slowwave.key', true);
    v_digest bytea;
BEGIN
    IF length(v_key) = 64 AND ltrim(v_key, '0123456789abcdef') = '' THEN v_digest := decode(v_key, 'hex'); END IF;
    PERFORM FROM slowwave.logins l
    WHERE l.login = session_user::text
      AND CASE l.role WHEN 'worker' THEN true
                      WHEN 'gateway' THEN EXISTS (
                          SELECT FROM slowwave.api_keys k
                          WHERE k.digest = v_digest AND k.tenant = p_tenant AND k.revoked_at IS NULL
                            AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()))
                      ELSE l.tenant = p_tenant END;
    -- A login that may become the owner anyway may do everything that the owner may do.
    IF NOT FOUND AND NOT pg_has_role(session_user, current_user, 'MEMBER') THEN
        RAISE insufficient_privilege
            USING MESSAGE = format('login %I may not act for tenant %L', session_user, left(p_tenant, 200)),
                  HINT = 'slowwave admin roles list shows which login belongs to which tenant';
    END IF;
END
$$;
