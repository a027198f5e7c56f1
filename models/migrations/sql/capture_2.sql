-- local_day: the local day to which an instant belongs: the one that began last.
--
-- A day begins at the first instant at which the local clock shows the cut-off hour (or, where a change of the clock
-- skips that hour, a later time). A day that has begun does not end because the clock is put back: what comes in that
-- hour's second pass is still of the new day. So days are contiguous, whatever a time zone did.
CREATE FUNCTION slowwave.local_day(p_at timestamptz, p_time_zone text, p_cutoff_hour integer) RETURNS date
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

-- capture_session: record events of one session in one statement, one round trip.
--
-- p_events: [{key, kind, step, content, role?, name?, at?, taken?, metadata?}, …]. `step` counts the turns that began in this
--   call, this event's included: 0 while its events still belong to the turn before. `role` is the kind unless given.
-- p_about: null, or {scope_kind, scope_name, room_id, thread_id, source}, each optional: what a new session is made
--   with. A scope that is named must be the one the session writes to.
-- p_trigger: null, or why processing is asked for now (idle, compaction, reset).
-- Answers the numbers after the call, what was added and what was a repetition, whether a flush is due now and why;
-- `problem` says why nothing was written.
--
-- Numbers are taken under the lock of the session's row and committed in order, so no watermark can pass an event that
-- is still uncommitted. Nothing else is locked: agents and scopes are inserted once and only read later, days are
-- counted per session. Each statement in here has its own snapshot (READ COMMITTED), taken after the lock was: what an
-- earlier holder committed is seen, so a repeated key is a repetition even when both arrive at once.
--
-- Replies wait for this, so the common case is four plain statements on few rows: lock, insert, count, update. That a
-- key is repeated shows in the number of rows that the insert took; only then are the new ones picked out.
CREATE OR REPLACE FUNCTION slowwave.capture_session(
    p_tenant text,
    p_agent text,
    p_session text,
    p_events jsonb,
    p_about jsonb,
    p_trigger text,
    p_idle_seconds double precision,
    p_max_dirty_age_seconds double precision,
    p_turn_threshold integer,
    p_time_zone text,
    p_cutoff_hour integer,
    p_now timestamptz DEFAULT NULL,
    OUT last_seq bigint, OUT added integer, OUT repeated integer, OUT due boolean, OUT due_reason text, OUT problem text
)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := coalesce(p_now, clock_timestamp());
    v_count integer := jsonb_array_length(p_events);
    v_session record;
    v_turn integer;
    v_today date;
    v_counted boolean := false;
    v_waited boolean := jsonb_path_exists(p_events, '$[*].taken');
BEGIN
    added := 0;
    repeated := 0;
    due := false;
    -- Before the session is made, so that what was forgotten makes none.
    IF v_waited THEN
        p_events := slowwave.not_forgotten(p_tenant, p_agent, p_session, p_about, p_events);
        v_count := jsonb_array_length(p_events);
    END IF;
    FOR attempt IN 1..2 LOOP
        SELECT s.id, s.last_seq, s.last_turn, s.processed_until, s.processed_turn, s.not_before, s.scope_id,
               a.time_zone, a.cutoff_hour
        INTO v_session
        FROM slowwave.agents a
        JOIN slowwave.sessions s ON s.agent_id = a.id
        WHERE a.tenant = p_tenant AND a.name = p_agent AND s.name = p_session
        FOR NO KEY UPDATE OF s;
        EXIT WHEN FOUND;
        -- A session that was never heard of has nothing to process: it isn't made by asking for that.
        IF v_count = 0 THEN
            last_seq := 0;
            RETURN;
        END IF;
        PERFORM slowwave.open_session(p_tenant, p_agent, p_session, p_about, p_time_zone, p_cutoff_hour, v_now);
    END LOOP;
    -- And again behind the lock: a forget that was under way has made this wait, and has committed by now.
    IF v_waited THEN
        p_events := slowwave.not_forgotten(p_tenant, p_agent, p_session, p_about, p_events);
        v_count := jsonb_array_length(p_events);
    END IF;
    IF p_about ->> 'scope_kind' IS NOT NULL THEN
        SELECT format('the session writes to scope %s:%s already', k.kind, k.name) INTO problem
        FROM slowwave.scopes k
        WHERE k.id = v_session.scope_id AND (k.kind, k.name) <> (p_about ->> 'scope_kind', p_about ->> 'scope_name');
        IF problem IS NOT NULL THEN
            last_seq := v_session.last_seq;
            RETURN;
        END IF;
    END IF;

    last_seq := v_session.last_seq;
    v_turn := v_session.last_turn;
    IF v_count > 0 THEN
        -- The first event of a session begins a turn whoever speaks.
        v_turn := v_turn + (v_turn = 0 AND p_events -> 0 ->> 'step' = '0')::integer;
        v_today := slowwave.local_day(v_now, v_session.time_zone, v_session.cutoff_hour);
        INSERT INTO slowwave.events (
            session_id, seq, turn, kind, role, name, content, happened_at, recorded_at, day, key, metadata
        )
        SELECT v_session.id, v_session.last_seq + e.ordinality, v_turn + (e.value ->> 'step')::integer,
               e.value ->> 'kind', coalesce(e.value ->> 'role', e.value ->> 'kind'), e.value ->> 'name',
               e.value ->> 'content', coalesce((e.value ->> 'at')::timestamptz, v_now), v_now,
               CASE WHEN e.value ->> 'at' IS NULL THEN v_today
                    ELSE slowwave.local_day(
                        (e.value ->> 'at')::timestamptz, v_session.time_zone, v_session.cutoff_hour) END,
               e.value ->> 'key', e.value -> 'metadata'
        FROM jsonb_array_elements(p_events) WITH ORDINALITY AS e
        ON CONFLICT (session_id, key) WHERE key IS NOT NULL DO NOTHING;
        GET DIAGNOSTICS added = ROW_COUNT;
        repeated := v_count - added;
        IF repeated = 0 THEN
            v_turn := v_turn + (p_events -> -1 ->> 'step')::integer;
        ELSIF added > 0 THEN
            -- Some are new, and their numbers have gaps: take them again, one behind the other.
            DELETE FROM slowwave.events e WHERE e.session_id = v_session.id AND e.seq > v_session.last_seq;
            v_turn := slowwave.insert_new_events(
                v_session.id, v_session.last_seq, v_session.last_turn, p_events,
                v_session.time_zone, v_session.cutoff_hour, v_now);
        ELSE
            v_turn := v_session.last_turn;
        END IF;
    END IF;
    IF added > 0 THEN
        last_seq := last_seq + added;
        -- Nearly always all of it was said today, and today has a row.
        IF NOT jsonb_path_exists(p_events, '$[*].at') THEN
            UPDATE slowwave.session_days d
            SET total_messages = d.total_messages + added, to_seq = v_session.last_seq + added, pending = true
            WHERE d.session_id = v_session.id AND d.day = v_today;
            v_counted := FOUND;
        END IF;
        IF NOT v_counted THEN
            PERFORM slowwave.count_days(v_session.id, v_session.last_seq);
        END IF;
    END IF;

    IF last_seq > v_session.processed_until THEN
        due_reason := coalesce(
            p_trigger, CASE WHEN v_turn - v_session.processed_turn > p_turn_threshold THEN 'turns' END);
        due := due_reason IS NOT NULL AND (v_session.not_before IS NULL OR v_session.not_before <= v_now);
    END IF;
    IF added > 0 OR (p_trigger IS NOT NULL AND due_reason IS NOT NULL) THEN
        UPDATE slowwave.sessions s SET
            last_seq = v_session.last_seq + added,
            last_turn = v_turn,
            last_seen_at = v_now,
            dirty_since = coalesce(s.dirty_since, v_now),
            invalidated_at = CASE WHEN due_reason IS NULL THEN s.invalidated_at ELSE v_session.last_seq + added END,
            invalidated_by = coalesce(due_reason, s.invalidated_by),
            flush_due_at = CASE
                -- Never later than it should be is enough: the sweep, which finds it too early, puts it right. So a turn
                -- that asks for nothing leaves every index of the row alone. And what is due already keeps the time at
                -- which the sweep, which has offered it since, looks again.
                WHEN s.flush_due_at IS NOT NULL AND (
                    due_reason IS NULL
                    OR s.invalidated_at IS NOT NULL
                    OR s.dirty_since + make_interval(secs => p_max_dirty_age_seconds) <= v_now) THEN s.flush_due_at
                ELSE greatest(
                    s.not_before,
                    CASE WHEN due_reason IS NOT NULL THEN v_now
                         ELSE least(
                             v_now + make_interval(secs => p_idle_seconds),
                             coalesce(s.dirty_since, v_now) + make_interval(secs => p_max_dirty_age_seconds))
                    END)
            END
        WHERE s.id = v_session.id;
    END IF;
END
$$;

-- capture: record events of many sessions in one statement; what capture_session does, for each of them.
--
-- p_batch: [{agent, session, events, about, trigger}, …] as in capture_session, each (agent, session) once.
-- Answers one row a session; `item` is its place in p_batch (0, 1, …).
--
-- Agents and scopes are made before any session is locked, in the order of their names, and sessions are locked in the
-- order of theirs: two batches can't wait for each other.
CREATE OR REPLACE FUNCTION slowwave.capture(
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

-- scope_of: the scope that a session with this `about` writes to; the agent's own where none is named.
CREATE OR REPLACE FUNCTION slowwave.scope_of(p_agent text, p_about jsonb, OUT kind text, OUT name text)
LANGUAGE sql IMMUTABLE
AS $$
    SELECT coalesce(p_about ->> 'scope_kind', 'agent'), coalesce(p_about ->> 'scope_name', p_agent)
$$;

-- open_session: the first event of a session makes it, and its agent and scope where they are new.
CREATE OR REPLACE FUNCTION slowwave.open_session(
    p_tenant text, p_agent text, p_session text, p_about jsonb, p_time_zone text, p_cutoff_hour integer,
    p_now timestamptz
) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_agent_id bigint;
    v_scope_id bigint;
    v_scope record;
BEGIN
    SELECT k.kind, k.name INTO v_scope FROM slowwave.scope_of(p_agent, p_about) AS k;
    -- Twice at most: the second time sees the row that another transaction made in between.
    LOOP
        SELECT a.id INTO v_agent_id FROM slowwave.agents a WHERE a.tenant = p_tenant AND a.name = p_agent;
        EXIT WHEN FOUND;
        INSERT INTO slowwave.agents (tenant, name, time_zone, cutoff_hour)
        VALUES (p_tenant, p_agent, p_time_zone, p_cutoff_hour)
        ON CONFLICT DO NOTHING;
    END LOOP;
    LOOP
        SELECT k.id INTO v_scope_id FROM slowwave.scopes k
        WHERE k.tenant = p_tenant AND k.kind = v_scope.kind AND k.name = v_scope.name;
        EXIT WHEN FOUND;
        INSERT INTO slowwave.scopes (tenant, kind, name) VALUES (p_tenant, v_scope.kind, v_scope.name)
        ON CONFLICT DO NOTHING;
    END LOOP;
    INSERT INTO slowwave.sessions (agent_id, scope_id, name, room_id, thread_id, source, last_seen_at)
    VALUES (v_agent_id, v_scope_id, p_session, p_about ->> 'room_id', p_about ->> 'thread_id',
            coalesce(p_about ->> 'source', 'events'), p_now)
    ON CONFLICT DO NOTHING;
END
$$;

-- insert_new_events: of p_events those whose key is new, numbered after p_last_seq; answers the last turn's number.
-- The caller holds the lock of the session's row.
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

-- count_days: the events after p_last_seq, each on the local day of its agent.
CREATE OR REPLACE FUNCTION slowwave.count_days(p_session_id bigint, p_last_seq bigint) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO slowwave.session_days AS d (session_id, day, agent_id, scope_id, total_messages, from_seq, to_seq)
    SELECT s.id, e.day, s.agent_id, s.scope_id, count(*), min(e.seq), max(e.seq)
    FROM slowwave.sessions s
    JOIN slowwave.events e ON e.session_id = s.id AND e.seq > p_last_seq
    WHERE s.id = p_session_id
    GROUP BY s.id, e.day
    ON CONFLICT (session_id, day) DO UPDATE
    SET total_messages = d.total_messages + excluded.total_messages, to_seq = excluded.to_seq, pending = true;
END
$$;

-- not_forgotten: of p_events those that were taken after their agent, their session or their scope was last forgotten.
--
-- The scope is that of the session, or the one that it would be made with. A scope's fence has agent '' and names it as
-- `kind:name` (models.erasures.ErasedName).
CREATE FUNCTION slowwave.not_forgotten(p_tenant text, p_agent text, p_session text, p_about jsonb, p_events jsonb)
RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_erased timestamptz;
    v_scope text;
BEGIN
    -- Nearly always nothing of the tenant was ever forgotten.
    IF NOT EXISTS (SELECT FROM slowwave.erased_names n WHERE n.tenant = p_tenant) THEN
        RETURN p_events;
    END IF;
    SELECT k.kind || ':' || k.name INTO v_scope
    FROM slowwave.agents a
    JOIN slowwave.sessions s ON s.agent_id = a.id
    JOIN slowwave.scopes k ON k.id = s.scope_id
    WHERE a.tenant = p_tenant AND a.name = p_agent AND s.name = p_session;
    IF NOT FOUND THEN
        SELECT k.kind || ':' || k.name INTO v_scope FROM slowwave.scope_of(p_agent, p_about) AS k;
    END IF;
    SELECT max(n.erased_at) INTO v_erased
    FROM slowwave.erased_names n
    WHERE n.tenant = p_tenant AND (n.agent = p_agent AND n.session IN ('', p_session)
                                   OR n.agent = '' AND n.session = v_scope);
    IF v_erased IS NULL THEN
        RETURN p_events;
    END IF;
    RETURN (
        SELECT coalesce(jsonb_agg(e.value ORDER BY e.ordinality), '[]')
        FROM jsonb_array_elements(p_events) WITH ORDINALITY AS e
        WHERE e.value ->> 'taken' IS NULL OR (e.value ->> 'taken')::timestamptz > v_erased);
END
$$;
