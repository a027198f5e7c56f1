-- truncate_empty_partitions: give back at once the room of partitions of which every event was removed, indexes included. Answers how
-- many. Sessions of such a partition may go on: it stays, and is empty.
CREATE OR REPLACE FUNCTION slowwave.truncate_empty_partitions() RETURNS integer
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
