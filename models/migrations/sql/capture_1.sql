-- capture: record events of one or many sessions in one statement, one round trip.
--
-- p_batch: [{agent, session, scope_kind, scope_name, scope_given, room_id, thread_id, source, trigger,
--            events: [{key, kind, role, name, content, at, metadata, begins}, …]}, …], each (agent, session) once.
--   trigger: null, or why processing is asked for now (idle, compaction, reset);
--   begins: this event begins a turn although it is no user event.
-- Answers one row a session; `item` is its place in p_batch (0, 1, …): numbers after the call, what was added and what
-- was a repetition, whether a flush is due now and why; `problem` says why a session was left out (nothing of it was
-- written).
--
-- Numbers are taken under the lock of the session's row and committed in order, so no watermark can pass an event that
-- is still uncommitted. Nothing else is locked: agents and scopes are inserted once and only read later, days are
-- counted per session. Sessions are locked in the order of their names, so two batches cannot wait for each other.
-- Each statement of this function has its own snapshot (READ COMMITTED), taken after the lock was: what an earlier
-- holder committed is seen, so a repeated key is a repetition even when both arrive at once.
--
-- Plain statements on one row each, on purpose: one clever statement over the whole batch took five times as long for a
-- single turn, which is what replies wait for.
CREATE FUNCTION slowwave.capture(
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
    v_event jsonb;
    v_session record;
    v_seq bigint;
    v_turn integer;
    v_at timestamptz;
    v_day date;
    v_counted_day date;
    v_counted integer;
    v_begins boolean;
BEGIN
    FOR v_item IN
        SELECT w.ordinality::integer - 1 AS place, w.value AS body, w.value ->> 'agent' AS agent,
               w.value ->> 'session' AS session
        FROM jsonb_array_elements(p_batch) WITH ORDINALITY AS w
        ORDER BY 3, 4
    LOOP
        item := v_item.place;
        added := 0;
        repeated := 0;
        due := false;
        due_reason := NULL;
        problem := NULL;

        SELECT s.id, s.last_seq, s.last_turn, s.processed_until, s.processed_turn, s.not_before, s.scope_id,
               a.time_zone, a.cutoff_hour
        INTO v_session
        FROM slowwave.agents a
        JOIN slowwave.sessions s ON s.agent_id = a.id
        WHERE a.tenant = p_tenant AND a.name = v_item.agent AND s.name = v_item.session
        FOR UPDATE OF s;
        IF NOT FOUND THEN
            PERFORM slowwave.open_session(p_tenant, v_item.body, p_time_zone, p_cutoff_hour, v_now);
            SELECT s.id, s.last_seq, s.last_turn, s.processed_until, s.processed_turn, s.not_before, s.scope_id,
                   a.time_zone, a.cutoff_hour
            INTO STRICT v_session
            FROM slowwave.agents a
            JOIN slowwave.sessions s ON s.agent_id = a.id
            WHERE a.tenant = p_tenant AND a.name = v_item.agent AND s.name = v_item.session
            FOR UPDATE OF s;
        END IF;
        IF (v_item.body ->> 'scope_given')::boolean THEN
            SELECT format('the session writes to scope %s:%s already', k.kind, k.name) INTO problem
            FROM slowwave.scopes k
            WHERE k.id = v_session.scope_id
              AND (k.kind, k.name) <> (v_item.body ->> 'scope_kind', v_item.body ->> 'scope_name');
            IF problem IS NOT NULL THEN
                last_seq := v_session.last_seq;
                RETURN NEXT;
                CONTINUE;
            END IF;
        END IF;

        v_seq := v_session.last_seq;
        v_turn := v_session.last_turn;
        v_counted := 0;
        v_counted_day := NULL;
        FOR v_event IN SELECT e.value FROM jsonb_array_elements(v_item.body -> 'events') AS e LOOP
            v_at := coalesce((v_event ->> 'at')::timestamptz, v_now);
            v_day := ((v_at AT TIME ZONE v_session.time_zone) - make_interval(hours => v_session.cutoff_hour))::date;
            v_begins := v_turn = 0 OR v_event ->> 'kind' = 'user' OR coalesce((v_event ->> 'begins')::boolean, false);
            INSERT INTO slowwave.events (
                session_id, seq, turn, kind, role, name, content, happened_at, recorded_at, day, key, metadata
            ) VALUES (
                v_session.id, v_seq + 1, v_turn + v_begins::integer, v_event ->> 'kind', v_event ->> 'role',
                v_event ->> 'name', v_event ->> 'content', v_at, v_now, v_day, v_event ->> 'key', v_event -> 'metadata'
            )
            ON CONFLICT (session_id, key) WHERE key IS NOT NULL DO NOTHING;
            IF NOT FOUND THEN
                repeated := repeated + 1;
                CONTINUE;
            END IF;
            v_seq := v_seq + 1;
            v_turn := v_turn + v_begins::integer;
            added := added + 1;
            IF v_day IS DISTINCT FROM v_counted_day AND v_counted > 0 THEN
                PERFORM slowwave.count_day(v_session.id, v_counted_day, v_counted);
                v_counted := 0;
            END IF;
            v_counted_day := v_day;
            v_counted := v_counted + 1;
        END LOOP;
        IF v_counted > 0 THEN
            PERFORM slowwave.count_day(v_session.id, v_counted_day, v_counted);
        END IF;

        last_seq := v_seq;
        IF v_seq > v_session.processed_until THEN
            due_reason := coalesce(
                v_item.body ->> 'trigger',
                CASE WHEN v_turn - v_session.processed_turn > p_turn_threshold THEN 'turns' END);
        END IF;
        IF added > 0 OR due_reason IS NOT NULL THEN
            due := due_reason IS NOT NULL AND (v_session.not_before IS NULL OR v_session.not_before <= v_now);
            UPDATE slowwave.sessions s SET
                last_seq = v_seq,
                last_turn = v_turn,
                last_seen_at = v_now,
                dirty_since = coalesce(s.dirty_since, v_now),
                invalidated_at = CASE WHEN due_reason IS NULL THEN s.invalidated_at ELSE v_seq END,
                invalidated_by = coalesce(due_reason, s.invalidated_by),
                flush_due_at = CASE
                    -- Asked for before and offered since: keep the time at which the sweep looks again.
                    WHEN s.invalidated_at IS NOT NULL AND s.flush_due_at IS NOT NULL THEN s.flush_due_at
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
        RETURN NEXT;
    END LOOP;
END
$$;

-- open_session: the first event of a session makes it, and its agent and scope where they are new.
CREATE FUNCTION slowwave.open_session(
    p_tenant text, p_item jsonb, p_time_zone text, p_cutoff_hour integer, p_now timestamptz
) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO slowwave.agents (tenant, name, time_zone, cutoff_hour)
    VALUES (p_tenant, p_item ->> 'agent', p_time_zone, p_cutoff_hour)
    ON CONFLICT DO NOTHING;
    INSERT INTO slowwave.scopes (tenant, kind, name)
    VALUES (p_tenant, p_item ->> 'scope_kind', p_item ->> 'scope_name')
    ON CONFLICT DO NOTHING;
    INSERT INTO slowwave.sessions (agent_id, scope_id, name, room_id, thread_id, source, last_seen_at)
    SELECT a.id, k.id, p_item ->> 'session', p_item ->> 'room_id', p_item ->> 'thread_id',
           coalesce(p_item ->> 'source', 'events'), p_now
    FROM slowwave.agents a
    JOIN slowwave.scopes k
      ON k.tenant = p_tenant AND k.kind = p_item ->> 'scope_kind' AND k.name = p_item ->> 'scope_name'
    WHERE a.tenant = p_tenant AND a.name = p_item ->> 'agent'
    ON CONFLICT DO NOTHING;
$$;

-- count_day: events of a session that fall on a local day of its agent.
CREATE FUNCTION slowwave.count_day(p_session_id bigint, p_day date, p_messages integer) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO slowwave.session_days AS d (session_id, day, total_messages)
    VALUES (p_session_id, p_day, p_messages)
    ON CONFLICT (session_id, day) DO UPDATE SET total_messages = d.total_messages + excluded.total_messages;
$$;
