-- Who may see what, where not everybody logs in as the owner.
--
-- The owner of the schema is asked nothing by any of this. Other logins stand in slowwave.logins, which none of them can
-- write: a producer and a console with their tenant, a worker with none. It is session_user that counts, which is who
-- logged in: neither SET ROLE nor a function that runs as its owner changes it, and no setting of the client does.
--
-- Entrances (capture_session, find, …) run as the owner once `slowwave roles apply` has said so: then they ask
-- slowwave.require_tenant first. All else that such a login reads goes through the policies below.

-- current_tenant: whose rows this login may see; NULL: nobody's.
CREATE OR REPLACE FUNCTION slowwave.current_tenant() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.tenant FROM slowwave.logins l WHERE l.login = session_user::text
$$;
