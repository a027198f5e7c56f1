-- capture_batch: record events of many sessions in one statement.
--
-- The function calls capture_session for each session.
-- p_batch: [{agent, session, events, about, trigger}, …] as in capture_session. Each (agent, session) pair occurs once.
-- Returns one row per session. `item` is the session's position in p_batch (0, 1, …).
--
-- The function creates agents and scopes before it locks any session, in the order of their names. It locks sessions in
-- the order of their names. So two batches cannot deadlock.
CREATE OR REPLACE FUNCTION slowwave.capture_batch(
    p_tenant text,
    p_batch jsonb,
    p_idle_seconds double precision,
    p_max_dirty_age_seconds double precision,
    p_turn_threshold integer,
    p_time_zone text,
    p_cutoff_hour integer,
    p_now timestamptz DEFAULT NULL
) RETURNS TABLE (
    item integer, last_seq bigint, added integer, repeated integer, due boolean, due_reason text, problem text
)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := coalesce(p_now, clock_timestamp());
    v_item record;
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_tenant(p_tenant); END IF;
    INSERT INTO slowwave.agents (tenant, name, time_zone, cutoff_hour)
    SELECT DISTINCT p_tenant, w.value ->> 'agent' COLLATE "C", p_time_zone, p_cutoff_hour
    FROM jsonb_array_elements(p_batch) AS w
    WHERE w.value -> 'events' <> '[]'
      AND NOT EXISTS (SELECT FROM slowwave.agents a WHERE a.tenant = p_tenant AND a.name = w.value ->> 'agent')
    ORDER BY 2
    ON CONFLICT DO NOTHING;
    INSERT INTO slowwave.scopes (tenant, kind, name)
    SELECT DISTINCT p_tenant, k.kind COLLATE "C", k.name COLLATE "C"
    FROM jsonb_array_elements(p_batch) AS w, slowwave.scope_of(w.value ->> 'agent', w.value -> 'about') AS k
    WHERE w.value -> 'events' <> '[]'
      AND NOT EXISTS (
          SELECT FROM slowwave.scopes s WHERE s.tenant = p_tenant AND s.kind = k.kind AND s.name = k.name)
    ORDER BY 2, 3
    ON CONFLICT DO NOTHING;
    FOR v_item IN
        SELECT w.ordinality::integer - 1 AS place, w.value AS body
        FROM jsonb_array_elements(p_batch) WITH ORDINALITY AS w
        ORDER BY w.value ->> 'agent' COLLATE "C", w.value ->> 'session' COLLATE "C"
    LOOP
        RETURN QUERY
        SELECT v_item.place, c.last_seq, c.added, c.repeated, c.due, c.due_reason, c.problem
        FROM slowwave.capture_session(
            p_tenant, v_item.body ->> 'agent', v_item.body ->> 'session', v_item.body -> 'events',
            v_item.body -> 'about', v_item.body ->> 'trigger',
            p_idle_seconds, p_max_dirty_age_seconds, p_turn_threshold, p_time_zone, p_cutoff_hour, v_now) AS c;
    END LOOP;
END
$$;
