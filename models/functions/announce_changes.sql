-- announce_changes: wake those who listen for changes of a tenant when a transaction with such changes commits.
--
-- Every flush runs this trigger. Without a listener, it reads one table that is empty or nearly so.
CREATE OR REPLACE FUNCTION slowwave.announce_changes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM slowwave.change_listeners l WHERE l.until > now()) THEN
        PERFORM pg_notify(l.channel, '')
        FROM slowwave.change_listeners l
        WHERE l.until > now() AND l.tenant IN (
            SELECT k.tenant FROM changed c JOIN slowwave.memories m ON m.id = c.memory_id
            JOIN slowwave.scopes k ON k.id = m.scope_id);
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER memory_changes_announced AFTER INSERT ON slowwave.memory_changes
REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION slowwave.announce_changes();
