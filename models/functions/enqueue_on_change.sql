-- enqueue_on_change: queue the memories of new rows in memory_changes for every registered backend.
--
-- The function skips links, because files do not contain them, and conflicts and decisions: enqueue_on_conflict queues
-- both sides.
--
-- Every flush runs this trigger. Without a backend, the trigger reads one empty table. This read holds a table lock
-- until the transaction ends, and register_backend waits for that lock. So no change is missed.
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
