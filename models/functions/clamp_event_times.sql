-- clamp_event_times: date events that claim to lie more than a day after p_now at p_now.
--
-- p_events as in capture_session. `metadata.claimed_at` keeps the time that the event claimed. One day leaves room for
-- clocks and time zones that are a little wrong. Without the bound, a phone whose clock is a year ahead would say the
-- last word about everything until that year has passed.
CREATE OR REPLACE FUNCTION slowwave.clamp_event_times(p_events jsonb, p_now timestamptz) RETURNS jsonb
LANGUAGE sql
AS $$
    SELECT coalesce(jsonb_agg(
        CASE WHEN (e.value ->> 'at')::timestamptz > p_now + interval '1 day'
             THEN e.value || jsonb_build_object(
                 'at', p_now,
                 'metadata', coalesce(nullif(e.value -> 'metadata', 'null'), '{}')
                             || jsonb_build_object('claimed_at', e.value -> 'at'))
             ELSE e.value END ORDER BY e.ordinality), '[]')
    FROM jsonb_array_elements(p_events) WITH ORDINALITY AS e
$$;
