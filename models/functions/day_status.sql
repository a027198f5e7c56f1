-- day_status: return the current status of a day.
--
-- Capture changes no row of slowwave.days. If a final day has gained an event since, this function reports the day as
-- open (I5).
--
-- p_status, p_summarized: the values in the day's row, NULL if it has no row. p_total: the number of its events now.
CREATE OR REPLACE FUNCTION slowwave.day_status(p_status text, p_summarized integer, p_total bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN p_status IS NULL THEN 'open'
        WHEN p_status = 'final' AND p_summarized <> p_total THEN 'open'
        ELSE p_status
    END
$$;
