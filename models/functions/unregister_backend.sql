-- unregister_backend: nothing is queued for it any more, and what was waiting is dropped. What mem0 was told of is kept
-- in mind: it may have these copies still, and a forget must find them there; what a forget asked for waits on. Answers
-- whether it was there.
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
