-- record_source_runs: record that runs of a conversation that another program stores must be read.
--
-- For each run, the time of the newest note counts. A run that was read before is read again, since a run can continue.
--
-- p_events: [{key, metadata?}, …]. `key` is the run's id. `metadata.wait_seconds` is the time until reading the run is
--   worthwhile.
-- If a run is already recorded, a new note never makes its due time later. A back-off ends.
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
