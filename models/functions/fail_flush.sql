-- fail_flush: record a failure of the window that began at p_processed_until.
--
-- If the watermark has moved on, the function changes nothing.
CREATE OR REPLACE FUNCTION slowwave.fail_flush(
    p_session_id bigint, p_processed_until bigint, p_attempts integer, p_failures integer, p_window_limit integer,
    p_not_before timestamptz, p_error text, p_now timestamptz
) RETURNS boolean
LANGUAGE sql
AS $$
    UPDATE slowwave.sessions s SET
        attempts = p_attempts,
        failures = p_failures,
        window_limit = p_window_limit,
        not_before = p_not_before,
        last_error = p_error,
        invalidated_at = coalesce(s.invalidated_at, s.last_seq),
        invalidated_by = coalesce(s.invalidated_by, 'failure'),
        flush_due_at = coalesce(p_not_before, p_now)
    WHERE s.id = p_session_id AND s.processed_until = p_processed_until AND s.last_seq > s.processed_until
    RETURNING true
$$;
