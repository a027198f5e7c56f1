-- day_status: what a day's status is now. Capture touches no row of a day: a final one that has got an event since reads
-- open by that alone (I5).
--
-- p_status, p_summarized: as they stand in the day's row, null where it has none. p_total: its events now.
CREATE OR REPLACE FUNCTION slowwave.day_status(p_status text, p_summarized integer, p_total bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN p_status IS NULL THEN 'open'
        WHEN p_status = 'final' AND p_summarized <> p_total THEN 'open'
        ELSE p_status
    END
$$;
