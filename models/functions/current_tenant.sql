-- current_tenant: return the tenant whose rows this login may see, or NULL if it may see none.
--
-- A gateway's login belongs to no tenant. It sees the tenant of the API key whose digest the session setting
-- slowwave.key holds (slowwave.use_key), as long as that key is neither revoked nor expired. Each call looks the key up.
CREATE OR REPLACE FUNCTION slowwave.current_tenant() RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_login record;
    v_key text;
BEGIN
    SELECT l.tenant, l.role INTO v_login FROM slowwave.logins l WHERE l.login = session_user::text;
    IF v_login.role IS DISTINCT FROM 'gateway' THEN
        RETURN v_login.tenant;
    END IF;
    -- The login may set anything here. A digest of 256 random bits can't be guessed.
    v_key := current_setting('slowwave.key', true);
    IF v_key ~ '^[0-9a-f]{64}$' THEN
        RETURN (SELECT k.tenant FROM slowwave.api_keys k
                WHERE k.digest = decode(v_key, 'hex') AND k.revoked_at IS NULL
                  AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()));
    END IF;
    RETURN NULL;
END
$$;
