-- register_backend: register a backend, so that every later change of a memory is queued for it.
--
-- The function queues every live memory once, and every memory that the backend may hold from an earlier time. For
-- files, memory_file_lines says which memories the files contain. For mem0, the outbox says which memories mem0
-- received. A memory that was archived or deleted since is then removed from the backend.
-- Returns false if the backend was registered already. Check before you call this function, because it takes an
-- exclusive lock.
--
-- The lock waits for transactions that changed memories while no backend was registered. Later transactions wait for
-- this one. So no change is missed.
CREATE OR REPLACE FUNCTION slowwave.register_backend(p_name text, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    LOCK TABLE slowwave.memory_backends IN ACCESS EXCLUSIVE MODE;
    INSERT INTO slowwave.memory_backends (name, since) VALUES (p_name, p_now) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM slowwave.enqueue_all(p_name, p_now);
    IF p_name = 'file' THEN
        PERFORM slowwave.schedule_summary(d.scope_id, d.day)
        FROM (SELECT DISTINCT s.scope_id, s.day FROM slowwave.day_summaries s) AS d;
    END IF;
    RETURN true;
END
$$;
