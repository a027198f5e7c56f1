-- enqueue_on_score: queue a memory whose score changed without a change of its own, such as an undone merge or run.
CREATE OR REPLACE FUNCTION slowwave.enqueue_on_score() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM slowwave.memory_backends) THEN
        PERFORM slowwave.enqueue_for_backends(ARRAY[NEW.id]);
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER memories_outbox
AFTER UPDATE OF confidence, importance, trust, valid_from, reaffirmed_at ON slowwave.memories
FOR EACH ROW
WHEN ((OLD.confidence, OLD.importance, OLD.trust, OLD.valid_from, OLD.reaffirmed_at)
      IS DISTINCT FROM (NEW.confidence, NEW.importance, NEW.trust, NEW.valid_from, NEW.reaffirmed_at))
EXECUTE FUNCTION slowwave.enqueue_on_score();
