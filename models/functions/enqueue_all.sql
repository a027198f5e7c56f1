-- enqueue_all: queue every live memory for a backend, and every memory that it may still hold from an earlier time.
CREATE OR REPLACE FUNCTION slowwave.enqueue_all(p_name text, p_now timestamptz) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO slowwave.outbox AS o (memory_id, backend, scope_id, queued_at)
    SELECT m.id, p_name, m.scope_id, p_now FROM slowwave.memories m WHERE m.status <> 'archived'
    UNION
    SELECT l.memory_id, p_name, l.scope_id, p_now FROM slowwave.memory_file_lines l WHERE p_name = 'file'
    UNION
    SELECT k.memory_id, p_name, k.scope_id, p_now FROM slowwave.outbox k WHERE k.backend = p_name AND p_name = 'mem0'
    ON CONFLICT (memory_id, backend) DO UPDATE SET
        changes = o.changes + 1,
        not_before = NULL,
        queued_at = CASE WHEN o.delivered = o.changes THEN excluded.queued_at ELSE o.queued_at END
$$;
