-- queue_for_backends: memories that every registered backend has to hear of (models.files.OutboxItem). What is queued
-- already counts up, so that a delivery under way knows that it was overtaken; it may be tried again at once.
--
-- A memory that is gone is not queued: there is nothing to tell.
CREATE FUNCTION slowwave.queue_for_backends(p_memories uuid[]) RETURNS void
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

-- queue_changed: behind every row of memory_changes. Links, conflicts and answers stand in no file, and are left out.
--
-- Flushes run through this: without a backend it is one look at an empty table. That look holds a lock to the end of
-- the transaction, for which whoever registers a backend waits: so no change falls between.
CREATE FUNCTION slowwave.queue_changed() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM slowwave.memory_backends) THEN
        PERFORM slowwave.queue_for_backends(array_agg(DISTINCT c.memory_id))
        FROM changed c
        WHERE c.action NOT IN ('linked', 'conflict', 'decided')
        HAVING count(*) > 0;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER memory_changes_outbox AFTER INSERT ON slowwave.memory_changes
REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION slowwave.queue_changed();

-- queue_weighed: behind what is weighed anew without a change of its own, as when a merge or a run is taken back.
CREATE FUNCTION slowwave.queue_weighed() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM slowwave.memory_backends) THEN
        PERFORM slowwave.queue_for_backends(ARRAY[NEW.id]);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER memories_outbox
AFTER UPDATE OF confidence, importance, trust, valid_from, reaffirmed_at ON slowwave.memories
FOR EACH ROW
WHEN ((OLD.confidence, OLD.importance, OLD.trust, OLD.valid_from, OLD.reaffirmed_at)
      IS DISTINCT FROM (NEW.confidence, NEW.importance, NEW.trust, NEW.valid_from, NEW.reaffirmed_at))
EXECUTE FUNCTION slowwave.queue_weighed();

-- queue_summarized: behind a new summary of a day, which stands in that day's file: it has to be looked at.
CREATE FUNCTION slowwave.queue_summarized() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM slowwave.memory_backends b WHERE b.name = 'file') THEN
        PERFORM slowwave.look_at_day(NEW.scope_id, NEW.day);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER day_summaries_outbox AFTER INSERT ON slowwave.day_summaries
FOR EACH ROW EXECUTE FUNCTION slowwave.queue_summarized();

-- look_at_day: forget when a day's file was changed last, so that it is looked at again (models.files.FileState).
CREATE FUNCTION slowwave.look_at_day(p_scope_id bigint, p_day date) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO slowwave.memory_files (scope_id, path, digest, size, modified_ns, checked_at)
    VALUES (p_scope_id, format('daily/%s.md', to_char(p_day, 'YYYY-MM-DD')), '', 0, 0, clock_timestamp())
    ON CONFLICT (scope_id, path) DO UPDATE SET modified_ns = 0
$$;

-- register_backend: from here on every change is queued for it. All that lives is queued once, and what stands in its
-- files from an earlier time. Answers false where it was registered already; look before you ask, since this locks.
--
-- The lock waits for transactions that changed memories while nobody was registered, and makes the others wait for
-- this one: so no change falls between.
CREATE FUNCTION slowwave.register_backend(p_name text, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    LOCK TABLE slowwave.memory_backends IN ACCESS EXCLUSIVE MODE;
    INSERT INTO slowwave.memory_backends (name, since) VALUES (p_name, p_now) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO slowwave.outbox AS o (memory_id, backend, scope_id, queued_at)
    SELECT m.id, p_name, m.scope_id, p_now FROM slowwave.memories m WHERE m.status <> 'archived'
    UNION
    SELECT l.memory_id, p_name, l.scope_id, p_now FROM slowwave.memory_file_lines l WHERE p_name = 'file'
    ON CONFLICT (memory_id, backend) DO UPDATE SET changes = o.changes + 1, not_before = NULL;
    IF p_name = 'file' THEN
        PERFORM slowwave.look_at_day(d.scope_id, d.day)
        FROM (SELECT DISTINCT s.scope_id, s.day FROM slowwave.day_summaries s) AS d;
    END IF;
    RETURN true;
END
$$;

-- unregister_backend: nothing is queued for it any more, and what was waiting is dropped. Answers whether it was there.
CREATE FUNCTION slowwave.unregister_backend(p_name text) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM slowwave.memory_backends b WHERE b.name = p_name;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM slowwave.outbox o WHERE o.backend = p_name;
    RETURN true;
END
$$;
