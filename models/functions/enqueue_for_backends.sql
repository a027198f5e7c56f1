-- enqueue_for_backends: queue memories for every registered backend (models.files.OutboxItem).
--
-- If a memory is queued already, its change count rises, so that a delivery in progress knows that it is outdated. The
-- memory may be delivered again at once.
--
-- The function does not queue a deleted memory, because there is no content to deliver.
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
