-- local_day: the local day to which an instant belongs: the one that began last.
--
-- A day begins at the first instant at which the local clock shows the cut-off hour (or, where a change of the clock
-- skips that hour, a later time). A day that has begun does not end because the clock is put back: what comes in that
-- hour's second pass is still of the new day. So days are contiguous, whatever a time zone did.
CREATE OR REPLACE FUNCTION slowwave.local_day(p_at timestamptz, p_time_zone text, p_cutoff_hour integer) RETURNS date
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    v_local timestamp := p_at AT TIME ZONE p_time_zone;
    v_before timestamp := (p_at - interval '24 hours') AT TIME ZONE p_time_zone;
    v_day date := (v_local - make_interval(hours => p_cutoff_hour))::date;
    v_next timestamp;
    v_first timestamptz;
BEGIN
    IF v_before + interval '24 hours' <= v_local THEN
        RETURN v_day;
    END IF;
    -- The clock was put back within the last 24 hours: had it shown the next day's beginning before that?
    v_next := v_day + 1 + make_interval(hours => p_cutoff_hour);
    v_first := (p_at - interval '24 hours') + (v_next - v_before);
    IF v_first <= p_at AND v_first AT TIME ZONE p_time_zone = v_next THEN
        RETURN v_day + 1;
    END IF;
    RETURN v_day;
END
$$;
