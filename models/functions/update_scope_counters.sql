-- update_scope_counters: add what was flushed since the last call to the counts of its scopes, at most p_limit flushes; answers how
-- many were read. The ledger is read from where the last call ended, never from its beginning.
--
-- A flush that commits behind one with a higher number may be left out: a count is compared with a tenth of itself.
-- One call at a time, else two would add the same.
CREATE OR REPLACE FUNCTION slowwave.update_scope_counters(p_limit integer) RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    v_read integer;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('slowwave.growth', 0));
    WITH news AS MATERIALIZED (
        -- In the order of their numbers, each with its session by its key: so no plan reads all of either table.
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
