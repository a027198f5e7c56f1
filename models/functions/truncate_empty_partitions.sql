-- truncate_empty_partitions: free the space of partitions whose events were all removed, indexes included, at once.
--
-- Returns the number of partitions truncated. Sessions of such a partition may continue: the partition remains and is
-- empty.
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
        -- Skip partitions that have rows according to the statistics.
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
