-- enqueue_on_summary: schedule the check of a day's file after a new summary, because the file contains the summary.
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
