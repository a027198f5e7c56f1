-- insert_new_events: insert the events of p_events whose key is new, numbered after p_last_seq.
--
-- Returns the number of the last turn. The caller holds the lock of the session's row.
CREATE OR REPLACE FUNCTION slowwave.insert_new_events(
    p_session_id bigint, p_last_seq bigint, p_last_turn integer, p_events jsonb,
    p_time_zone text, p_cutoff_hour integer, p_now timestamptz
) RETURNS integer
LANGUAGE sql
AS $$
    WITH given AS (
        SELECT e.value AS body, e.ordinality AS place,
               (e.value ->> 'step')::integer > lag((e.value ->> 'step')::integer, 1, 0) OVER (ORDER BY e.ordinality)
                   AS begins,
               e.value ->> 'key' IS NOT NULL
                   AND row_number() OVER (PARTITION BY e.value ->> 'key' ORDER BY e.ordinality) > 1 AS again
        FROM jsonb_array_elements(p_events) WITH ORDINALITY AS e
    ), fresh AS (
        SELECT g.body, row_number() OVER w AS place,
               count(*) FILTER (WHERE g.begins) OVER w AS step,
               p_last_turn = 0 AND NOT first_value(g.begins) OVER w AS starts
        FROM given g
        WHERE NOT g.again AND NOT EXISTS (
            SELECT FROM slowwave.events k WHERE k.session_id = p_session_id AND k.key = g.body ->> 'key')
        WINDOW w AS (ORDER BY g.place)
    ), inserted AS (
        INSERT INTO slowwave.events (
            session_id, seq, turn, kind, role, name, content, happened_at, recorded_at, day, key, metadata
        )
        SELECT p_session_id, p_last_seq + f.place, p_last_turn + f.starts::integer + f.step,
               f.body ->> 'kind', coalesce(f.body ->> 'role', f.body ->> 'kind'), f.body ->> 'name',
               f.body ->> 'content', coalesce((f.body ->> 'at')::timestamptz, p_now), p_now,
               slowwave.local_day(coalesce((f.body ->> 'at')::timestamptz, p_now), p_time_zone, p_cutoff_hour),
               f.body ->> 'key', f.body -> 'metadata'
        FROM fresh f
        RETURNING turn
    )
    SELECT max(i.turn) FROM inserted i
$$;
