-- record_source_runs: runs of a conversation that another program keeps are to be looked at; of each the time of the newest
-- note counts. What was looked at before is looked at again, since a run can go on.
--
-- p_events: [{key, metadata?}, …]: `key` is the run's id, `metadata.wait_seconds` how long it takes until it is worth it.
-- One that is due waits no longer than it would have; a back-off ends.
CREATE OR REPLACE FUNCTION slowwave.record_source_runs(p_session_id bigint, p_events jsonb, p_now timestamptz) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO slowwave.source_runs AS r (session_id, run_id, asked_at, due_at)
    SELECT p_session_id, e.value ->> 'key', p_now,
           min(p_now + make_interval(secs => coalesce((e.value -> 'metadata' ->> 'wait_seconds')::double precision, 0)))
    FROM jsonb_array_elements(p_events) AS e
    GROUP BY 2
    ORDER BY 2
    ON CONFLICT (session_id, run_id) DO UPDATE SET
        asked_at = greatest(r.asked_at, excluded.asked_at),
        due_at = least(r.due_at, excluded.due_at),
        missing_since = NULL,
        outcome = NULL
$$;
