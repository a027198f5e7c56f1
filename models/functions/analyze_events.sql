-- analyze_events: what the planner knows of all partitions together; autovacuum looks at each by itself only.
CREATE OR REPLACE FUNCTION slowwave.analyze_events() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    ANALYZE ONLY slowwave.events;
END
$$;
