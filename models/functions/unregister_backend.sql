-- unregister_backend: stop queueing changes for a backend, and drop its waiting deliveries.
--
-- The outbox keeps the rows of mem0: mem0 may still hold these copies, and a forget must find them. A delivery that a
-- forget requested keeps waiting. Returns whether the backend was registered.
CREATE OR REPLACE FUNCTION slowwave.unregister_backend(p_name text) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM slowwave.memory_backends b WHERE b.name = p_name;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM slowwave.outbox o WHERE o.backend = p_name AND p_name <> 'mem0';
    UPDATE slowwave.outbox o SET delivered = o.changes, attempts = 0, not_before = NULL, last_error = NULL
    WHERE o.backend = p_name AND o.delivered < o.changes AND NOT o.forgotten;
    RETURN true;
END
$$;
