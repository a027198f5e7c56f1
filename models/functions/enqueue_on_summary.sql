-- enqueue_on_summary: behind a new summary of a day, which stands in that day's file: it has to be looked at.
CREATE OR REPLACE FUNCTION slowwave.enqueue_on_summary() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM slowwave.memory_backends b WHERE b.name = 'file') THEN
        PERFORM slowwave.schedule_summary(NEW.scope_id, NEW.day);
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER day_summaries_outbox AFTER INSERT ON slowwave.day_summaries
FOR EACH ROW EXECUTE FUNCTION slowwave.enqueue_on_summary();
