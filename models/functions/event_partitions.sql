-- event_partitions: return the partitions of slowwave.events that have an upper bound, with that bound.
--
-- slowwave.events is partitioned by ranges of session ids. events_N holds the sessions below N that no earlier
-- partition holds. events_rest holds all sessions after the last of these. The session alone determines the partition
-- of an event. So the database still guarantees the unique keys (session, seq) and (session, key).
--
-- The functions that change partitions run with the rights of the schema's owner. So the login that runs maintenance
-- does not need the right to change tables.
CREATE OR REPLACE FUNCTION slowwave.event_partitions() RETURNS TABLE (name text, bound bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.relname::text, substr(c.relname, 8)::bigint
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'slowwave.events'::regclass AND c.relname ~ '^events_\d+$'
    ORDER BY 2
$$;
