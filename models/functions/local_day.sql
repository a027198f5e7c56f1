-- local_day: return the local day of an instant: the latest day that has begun.
--
-- A day begins at the first instant at which the local clock shows the cut-off hour, or a later time if a clock change
-- skips that hour. A day that has begun does not end when the clock is set back: an event in the second pass of that
-- hour still belongs to the new day. So days are contiguous, whatever changes a time zone has.
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
    -- The clock was set back within the last 24 hours. Check whether it had shown the start of the next day before
    -- that.
    v_next := v_day + 1 + make_interval(hours => p_cutoff_hour);
    v_first := (p_at - interval '24 hours') + (v_next - v_before);
    IF v_first <= p_at AND v_first AT TIME ZONE p_time_zone = v_next THEN
        RETURN v_day + 1;
    END IF;
    RETURN v_day;
END
$$;
