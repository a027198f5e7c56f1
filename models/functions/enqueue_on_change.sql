-- enqueue_on_change: behind every row of memory_changes. Links, conflicts and answers stand in no file, and are left out.
--
-- Flushes run through this: without a backend it is one look at an empty table. That look holds a lock to the end of
-- the transaction, for which whoever registers a backend waits: so no change falls between.
CREATE OR REPLACE FUNCTION slowwave.enqueue_on_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM slowwave.memory_backends) THEN
        PERFORM slowwave.enqueue_for_backends(array_agg(DISTINCT c.memory_id))
        FROM changed c
        WHERE c.action NOT IN ('linked', 'conflict', 'decided')
        HAVING count(*) > 0;
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER memory_changes_outbox AFTER INSERT ON slowwave.memory_changes
REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION slowwave.enqueue_on_change();
