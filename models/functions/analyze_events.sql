-- analyze_events: update the planner statistics of slowwave.events as a whole.
--
-- Autovacuum analyzes each partition only by itself.
CREATE OR REPLACE FUNCTION slowwave.analyze_events() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    ANALYZE ONLY slowwave.events;
END
$$;
