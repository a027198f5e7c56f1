-- add_event_partitions: create event partitions until p_width more sessions fit before events_rest is used.
--
-- Returns the number of partitions created.
--
-- The function locks slowwave.events, and capture waits for milliseconds. Each new partition is split off events_rest,
-- which is empty unless this function was not called for a long time. If it has rows, Postgres scans them once. If the
-- function does not get a lock within two seconds, the call fails. The next call creates the partitions.
CREATE OR REPLACE FUNCTION slowwave.add_event_partitions(p_width bigint) RETURNS integer
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
    -- Another call may have added partitions while this call waited for the lock.
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
