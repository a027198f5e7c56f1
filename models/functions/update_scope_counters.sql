-- update_scope_counters: add the events flushed since the last call to the counters of their scopes.
--
-- The function reads at most p_limit flushes and returns how many it read. It reads the ledger from the end of the last
-- call, never from the beginning.
--
-- The function can miss a flush that commits after a flush with a higher number. This is acceptable, because the
-- counter only has to show when a scope has grown by a tenth. Only one call runs at a time. Otherwise two calls would
-- add the same flushes.
CREATE OR REPLACE FUNCTION slowwave.update_scope_counters(p_limit integer) RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    v_read integer;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('slowwave.growth', 0));
    WITH news AS MATERIALIZED (
        -- Read flushes in the order of their ids, and each session by its key, so that no plan scans either table.
        SELECT f.id, f.to_seq - f.from_seq + 1 AS events,
               (SELECT s.scope_id FROM slowwave.sessions s WHERE s.id = f.session_id) AS scope_id
        FROM slowwave.flushes f
        WHERE f.id > (SELECT max(k.flushed_through) FROM slowwave.scopes k)
        ORDER BY f.id
        LIMIT p_limit
    ), grown AS (
        UPDATE slowwave.scopes k SET flushed_events = k.flushed_events + n.events, flushed_through = n.last
        FROM (
            SELECT e.scope_id, sum(e.events)::bigint AS events, max(e.id) AS last FROM news e GROUP BY e.scope_id
        ) AS n
        WHERE k.id = n.scope_id
    )
    SELECT count(*) INTO v_read FROM news;
    RETURN v_read;
END
$$;
