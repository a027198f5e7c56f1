-- current_tenant: return the tenant whose rows this login may see, or NULL if it may see none.
CREATE OR REPLACE FUNCTION slowwave.current_tenant() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.tenant FROM slowwave.logins l WHERE l.login = session_user::text
$$;
