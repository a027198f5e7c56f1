-- current_tenant: return the tenant whose rows this login may see, or NULL if it may see none.
--
-- A gateway's login belongs to no tenant. It sees the tenant of the API key whose digest the session setting
-- slowwave.key holds (slowwave.use_key), as long as that key is neither revoked nor expired. Each call looks the key up.
CREATE OR REPLACE FUNCTION slowwave.current_tenant() RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- The login may set anything here. A digest of 256 random bits can't be guessed.
    v_key text := current_setting('slowwave.key', true);
    v_digest bytea;
BEGIN
    -- Each write of a gateway asks this, and a regular expression would cost more than the query.
    IF length(v_key) = 64 AND ltrim(v_key, '0123456789abcdef') = '' THEN v_digest := decode(v_key, 'hex'); END IF;
    RETURN (
        SELECT CASE l.role
            WHEN 'gateway' THEN (
                SELECT k.tenant FROM slowwave.api_keys k
                WHERE k.digest = v_digest AND k.revoked_at IS NULL
                  AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()))
            ELSE l.tenant END
        FROM slowwave.logins l WHERE l.login = session_user::text);
END
$$;
