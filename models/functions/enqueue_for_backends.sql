-- enqueue_for_backends: memories that every registered backend has to hear of (models.files.OutboxItem). What is queued
-- already counts up, so that a delivery under way knows that it was overtaken; it may be tried again at once.
--
-- A memory that is gone is not queued: there is nothing to tell.
CREATE OR REPLACE FUNCTION slowwave.enqueue_for_backends(p_memories uuid[]) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO slowwave.outbox AS o (memory_id, backend, scope_id, queued_at)
    SELECT m.id, b.name, m.scope_id, clock_timestamp()
    FROM slowwave.memories m CROSS JOIN slowwave.memory_backends b
    WHERE m.id = ANY (p_memories)
    ORDER BY m.id, b.name
    ON CONFLICT (memory_id, backend) DO UPDATE SET
        changes = o.changes + 1,
        not_before = NULL,
        queued_at = CASE WHEN o.delivered = o.changes THEN excluded.queued_at ELSE o.queued_at END
$$;
