-- Partitions of events, by ranges of session ids: events_N holds the sessions below N that no partition before it holds,
-- events_rest whatever comes after the last of them. Where an event lies follows from its session, so the unique keys
-- (session, seq) and (session, key) stay the database's promise.
--
-- These run with the rights of the schema's owner: whoever runs maintenance needs none to change tables.

-- event_partitions: the partitions that have an end, with it.
CREATE OR REPLACE FUNCTION slowwave.event_partitions() RETURNS TABLE (name text, bound bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.relname::text, substr(c.relname, 8)::bigint
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'slowwave.events'::regclass AND c.relname ~ '^events_\d+$'
    ORDER BY 2
$$;
