-- use_key: let this session of a gateway's login act for the tenant of an API key, and return that tenant.
--
-- p_digest is the SHA-256 of the whole key. An unknown, revoked or expired key raises invalid_authorization. The
-- session setting slowwave.key then still holds the key from before. A rollback takes the setting back, too, so callers
-- commit this call before they rely on it.
CREATE OR REPLACE FUNCTION slowwave.use_key(p_digest bytea) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_tenant text;
BEGIN
    SELECT k.tenant INTO v_tenant FROM slowwave.api_keys k
    WHERE k.digest = p_digest AND k.revoked_at IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp());
    IF NOT FOUND THEN
        RAISE invalid_authorization_specification
            USING MESSAGE = 'this API key is unknown, was revoked, or has expired',
                  HINT = 'slowwave admin keys list shows the keys of a tenant';
    END IF;
    PERFORM set_config('slowwave.key', encode(p_digest, 'hex'), false);
    RETURN v_tenant;
END
$$;
