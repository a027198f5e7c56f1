-- enqueue_on_conflict: queue both memories of a contradiction that was registered, decided or reopened for every
-- registered backend, because a memory file marks the lines of open contradictions.
CREATE OR REPLACE FUNCTION slowwave.enqueue_on_conflict() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM slowwave.memory_backends) THEN
        PERFORM slowwave.enqueue_for_backends(ARRAY[NEW.memory_id, NEW.conflicting_memory_id]);
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER memory_conflicts_outbox AFTER INSERT OR UPDATE OF status ON slowwave.memory_conflicts
FOR EACH ROW EXECUTE FUNCTION slowwave.enqueue_on_conflict();
