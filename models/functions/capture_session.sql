-- capture_session: record events of one session in one statement and one round trip.
--
-- p_events: [{key, kind, step, content, role?, name?, at?, taken?, metadata?}, …]. `step` counts the turns that began
--   in this call, including the turn of this event. It is 0 while the events still belong to the previous turn. `role`
--   defaults to the kind. An `at` more than a day ahead becomes now (clamp_event_times). `taken` is present if the event
--   was queued before this call.
-- p_about: NULL, or {scope_kind, scope_name, room_id, thread_id, source}, each optional. The function creates a new
--   session with these values. For an existing session, a named scope must be the scope that the session writes to.
-- p_trigger: NULL, or why processing is requested now (idle, compaction, reset). If it is "unread", p_events names runs
--   that another program stores. Then the function calls record_source_runs and records no event.
-- Returns the last sequence number after the call, how many events were added and how many were repeated, whether a
-- flush is due now, and why. `problem` says why nothing was written.
--
-- The function assigns sequence numbers under the lock of the session's row. Transactions commit in the order of these
-- numbers, so no watermark can pass an event that is still uncommitted. The function locks nothing else: agents and
-- scopes are inserted once and only read later, and days are counted per session. Each statement has its own snapshot
-- (READ COMMITTED), taken after the lock. It sees the commits of earlier lock holders, so a repeated key is a
-- repetition even if both calls arrive at once.
--
-- Replies wait for this function, so the common case is four plain statements on few rows: lock, insert, count, update.
-- The row count of the insert shows whether a key is repeated. Only then does the function pick out the new events.
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
    v_timed boolean := jsonb_path_exists(p_events, '$[*].at');
    v_waited boolean := jsonb_path_exists(p_events, '$[*].taken');
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_tenant(p_tenant); END IF;
    added := 0;
    repeated := 0;
    due := false;
    IF v_timed THEN
        p_events := slowwave.clamp_event_times(p_events, v_now);
    END IF;
    -- Filter before the session is created, so that forgotten events do not create it.
    IF v_waited THEN
        p_events := slowwave.filter_forgotten(p_tenant, p_agent, p_session, p_about, p_events);
        v_count := jsonb_array_length(p_events);
    END IF;
    FOR attempt IN 1..2 LOOP
        SELECT s.id, s.agent_id, s.scope_id, s.last_seq, s.last_turn, s.processed_until, s.processed_turn, s.not_before,
               a.time_zone, a.cutoff_hour
        INTO v_session
        FROM slowwave.sessions s
        JOIN slowwave.agents a ON a.id = s.agent_id
        -- Autovacuum analyzes no table of a few agents, and a plan without their number reads all sessions of a name.
        WHERE s.agent_id = (SELECT g.id FROM slowwave.agents g WHERE g.tenant = p_tenant AND g.name = p_agent)
          AND s.name = p_session
        FOR NO KEY UPDATE OF s;
        EXIT WHEN FOUND;
        -- An unknown session has nothing to process. A request for processing does not create it.
        IF v_count = 0 THEN
            last_seq := 0;
            RETURN;
        END IF;
        PERFORM slowwave.open_session(p_tenant, p_agent, p_session, p_about, p_time_zone, p_cutoff_hour, v_now);
    END LOOP;
    -- Filter again under the lock. If a forget was in progress, this call waited for it, and the forget has committed
    -- by now.
    IF v_waited THEN
        p_events := slowwave.filter_forgotten(p_tenant, p_agent, p_session, p_about, p_events);
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
    IF p_trigger = 'unread' THEN
        PERFORM slowwave.record_source_runs(v_session.id, p_events, v_now);
        RETURN;
    END IF;
    v_turn := v_session.last_turn;
    IF v_count > 0 THEN
        -- The first event of a session begins a turn, whatever its role.
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
            -- Some events are new, and their sequence numbers have gaps. Delete them and insert them again without
            -- gaps.
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
        IF v_timed THEN
            PERFORM slowwave.count_days(v_session.id, v_session.last_seq);
        ELSE
            -- Every event happened today.
            INSERT INTO slowwave.session_days AS d (
                session_id, day, agent_id, scope_id, total_messages, from_seq, to_seq
            )
            VALUES (v_session.id, v_today, v_session.agent_id, v_session.scope_id, added,
                    v_session.last_seq + 1, last_seq)
            ON CONFLICT (session_id, day) DO UPDATE
            SET total_messages = d.total_messages + excluded.total_messages, to_seq = excluded.to_seq, pending = true;
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
            -- The number of turns is the weakest reason: a flush in progress may make it obsolete.
            invalidated_by = CASE WHEN due_reason = 'turns' THEN coalesce(s.invalidated_by, due_reason)
                                  ELSE coalesce(due_reason, s.invalidated_by) END,
            flush_due_at = CASE
                -- The stored time may be too early but not too late: the sweep corrects a session that it finds too
                -- early. So a turn that requests nothing changes no index of the row. A session that is already due
                -- keeps its time. The sweep has offered the session since, and checks it again at that time.
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
