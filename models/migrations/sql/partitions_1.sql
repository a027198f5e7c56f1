-- Partitions of events, by ranges of session ids: events_N holds the sessions below N that no partition before it holds,
-- events_rest whatever comes after the last of them. Where an event lies follows from its session, so the unique keys
-- (session, seq) and (session, key) stay the database's promise.
--
-- These run with the rights of the schema's owner: whoever runs maintenance needs none to change tables.

-- event_partitions: the partitions that have an end, with it.
CREATE FUNCTION slowwave.event_partitions() RETURNS TABLE (name text, bound bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.relname::text, substr(c.relname, 8)::bigint
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'slowwave.events'::regclass AND c.relname ~ '^events_\d+$'
    ORDER BY 2
$$;

-- extend_events: let there be room for p_width further sessions before events_rest is used. Answers how many partitions
-- were made.
--
-- Capture waits meanwhile, for milliseconds: what is cut off events_rest is empty, unless nobody called this for long;
-- then its rows are looked through once. Who can't have the table within two seconds fails, and the next call does it.
CREATE FUNCTION slowwave.extend_events(p_width bigint) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '2s'
AS $$
DECLARE
    v_last bigint := coalesce(pg_sequence_last_value('slowwave.sessions_id_seq'), 0);
    v_from bigint;
    v_bound bigint;
    v_held bigint;
    v_made integer := 0;
BEGIN
    IF p_width < 1 THEN
        RAISE EXCEPTION 'a partition holds at least one session, not %', p_width USING ERRCODE = '22023';
    END IF;
    SELECT max(p.bound) INTO v_bound FROM slowwave.event_partitions() AS p;
    IF v_bound >= v_last + p_width THEN
        RETURN 0;
    END IF;
    LOCK TABLE slowwave.events IN ACCESS EXCLUSIVE MODE;
    -- Another call may have been here while this one waited.
    SELECT max(p.bound) INTO v_bound FROM slowwave.event_partitions() AS p;
    WHILE v_bound < v_last + p_width LOOP
        SELECT max(e.session_id) INTO v_held FROM slowwave.events_rest e;
        v_from := v_bound;
        v_bound := (greatest(v_bound, v_held) / p_width + 1) * p_width;
        ALTER TABLE slowwave.events DETACH PARTITION slowwave.events_rest;
        EXECUTE format('ALTER TABLE slowwave.events_rest RENAME TO events_%s', v_bound);
        EXECUTE format('ALTER INDEX slowwave.events_rest_pkey RENAME TO events_%s_pkey', v_bound);
        EXECUTE format('ALTER INDEX slowwave.events_rest_session_id_key_idx RENAME TO events_%s_session_id_key_idx', v_bound);
        EXECUTE format('ALTER TABLE slowwave.events ATTACH PARTITION slowwave.events_%s FOR VALUES FROM (%s) TO (%s)',
                       v_bound, v_from, v_bound);
        EXECUTE format('CREATE TABLE slowwave.events_rest PARTITION OF slowwave.events'
                       ' FOR VALUES FROM (%s) TO (MAXVALUE)', v_bound);
        v_made := v_made + 1;
    END LOOP;
    RETURN v_made;
END
$$;

-- empty_events: give back at once the room of partitions of which every event was removed, indexes included. Answers how
-- many. Sessions of such a partition may go on: it stays, and is empty.
CREATE FUNCTION slowwave.empty_events() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '2s'
AS $$
DECLARE
    v_partition record;
    v_left boolean;
    v_emptied integer := 0;
BEGIN
    FOR v_partition IN
        -- What the statistics think holds rows is not looked through.
        SELECT p.name FROM slowwave.event_partitions() AS p, format('slowwave.%I', p.name) AS f
        WHERE pg_relation_size(f::regclass) > 0 AND pg_stat_get_live_tuples(f::regclass) = 0
    LOOP
        EXECUTE format('LOCK TABLE slowwave.%I IN ACCESS EXCLUSIVE MODE', v_partition.name);
        EXECUTE format('SELECT EXISTS (SELECT FROM slowwave.%I)', v_partition.name) INTO v_left;
        IF NOT v_left THEN
            EXECUTE format('TRUNCATE slowwave.%I', v_partition.name);
            v_emptied := v_emptied + 1;
        END IF;
    END LOOP;
    RETURN v_emptied;
END
$$;

-- analyze_events: what the planner knows of all partitions together; autovacuum looks at each by itself only.
CREATE FUNCTION slowwave.analyze_events() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    ANALYZE ONLY slowwave.events;
END
$$;
