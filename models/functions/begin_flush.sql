-- begin_flush: count a flush attempt and read the window, in one round trip.
--
-- The function counts the attempt before the worker starts its work. So a window that kills its worker runs out of
-- attempts instead of looping.
-- The function moves the session's due time to the end of the lease. If this worker dies, the sweep offers the session
-- again right after the lease ends.
-- The commit does not wait for the disk. If the server crashes and loses the count, that costs one more attempt.
-- `events` holds the events of the window and, as context only, events at or before processed_until: the last
-- p_preceding of them, and the last two turns of people and agents, which a run of tool events may have pushed out.
-- Tool events of a window have room of their own: four times that of other events (TOOL_ROOM in domain/windows.py).
-- If a model is being asked about a window, begin_flush reads the window as far as that question goes, so that a second
-- worker waits for the same answer. Waiting uses up no attempt: only the worker that asks can die of the window.
-- `shown` is true if a context showed the session memories that no reply has used so far.
-- Returns one row. `state` is "begin", or the reason why there is nothing to do: "unknown", "clean", or "early" (not
-- due, or in back-off).
-- A session is early if a new event arrived after the sweep claimed it. The claim moved its due time on by the retry
-- interval. begin_flush sets the time at which the session is really due. Otherwise its flush could be late by up to
-- that interval.
CREATE OR REPLACE FUNCTION slowwave.begin_flush(
    p_tenant text, p_agent text, p_session text,
    p_max_messages integer, p_preceding integer,
    p_idle_seconds double precision, p_max_dirty_age_seconds double precision, p_lease_seconds double precision,
    p_now timestamptz
) RETURNS TABLE (
    state text, session_id bigint, scope_id bigint, time_zone text, processed_until bigint, last_seq bigint,
    invalidated_at bigint, attempts smallint, failures smallint, window_limit smallint, events jsonb, shown boolean
)
LANGUAGE plpgsql
-- A new database has no statistics. Without this setting, Postgres would keep a plan that reads all sessions.
SET enable_seqscan = off
-- Planning these statements for every flush costs more than running them.
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v record;
    v_due timestamptz;
    v_asked record;
    v_to bigint;
    v_near bigint;
    v_turns bigint[] := '{}';
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    SELECT s.*, a.time_zone INTO v
    FROM slowwave.agents a
    JOIN slowwave.sessions s ON s.agent_id = a.id
    WHERE a.tenant = p_tenant AND a.name = p_agent AND s.name = p_session AND a.deleted_at IS NULL
    FOR UPDATE OF s;
    IF NOT FOUND THEN
        state := 'unknown';
        RETURN NEXT;
        RETURN;
    END IF;
    session_id := v.id;
    IF v.last_seq = v.processed_until THEN
        state := 'clean';
        RETURN NEXT;
        RETURN;
    END IF;
    v_due := greatest(v.not_before, CASE WHEN v.invalidated_at > v.processed_until THEN p_now ELSE least(
        v.last_seen_at + make_interval(secs => p_idle_seconds),
        v.dirty_since + make_interval(secs => p_max_dirty_age_seconds)) END);
    IF v_due > p_now THEN
        UPDATE slowwave.sessions s SET flush_due_at = v_due WHERE s.id = v.id AND s.flush_due_at IS DISTINCT FROM v_due;
        state := 'early';
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT w.to_seq, w.answer IS NULL AND w.expires_at > p_now AS awaited INTO v_asked
    FROM slowwave.window_answers w
    WHERE w.session_id = v.id AND w.from_seq = v.processed_until + 1 AND (w.answer IS NOT NULL OR w.expires_at > p_now);
    UPDATE slowwave.sessions s
    SET attempts = s.attempts + (v_asked.awaited IS NOT TRUE)::integer,
        flush_due_at = p_now + make_interval(secs => p_lease_seconds)
    WHERE s.id = v.id;
    state := 'begin';
    scope_id := v.scope_id;
    time_zone := v.time_zone;
    processed_until := v.processed_until;
    last_seq := v.last_seq;
    invalidated_at := v.invalidated_at;
    attempts := v.attempts + 1;
    failures := v.failures;
    window_limit := v.window_limit;
    shown := EXISTS (SELECT FROM slowwave.memory_uses u WHERE u.session_id = v.id AND u.last_used_at IS NULL);
    v_to := least(v.last_seq, v.processed_until + v.window_limit, v_asked.to_seq);
    IF v_to > v.processed_until + p_max_messages THEN
        -- Events of tools have room of their own. cut_window decides; here the room only bounds what is read.
        SELECT max(w.seq) INTO v_to
        FROM (SELECT e.seq, count(*) FILTER (WHERE e.kind <> 'tool') OVER (ORDER BY e.seq) AS turns
              FROM slowwave.events e
              WHERE e.session_id = v.id AND e.seq > v.processed_until
                AND e.seq <= least(v_to, v.processed_until + 5 * p_max_messages)) AS w
        WHERE w.turns <= p_max_messages;
    END IF;
    v_near := v.processed_until - p_preceding;
    IF v_near > 0 THEN
        v_turns := ARRAY(
            SELECT e.seq FROM slowwave.events e
            WHERE e.session_id = v.id AND e.seq > v.processed_until - 200 AND e.seq <= v.processed_until
              AND e.kind IN ('user', 'assistant')
            ORDER BY e.seq DESC LIMIT 2);
    END IF;
    SELECT jsonb_agg(jsonb_build_object(
        'seq', e.seq, 'kind', e.kind, 'role', e.role, 'name', e.name, 'content', e.content,
        'happened_at', e.happened_at, 'metadata', e.metadata) ORDER BY e.seq) INTO events
    FROM slowwave.events e
    WHERE e.session_id = v.id AND e.seq > least(v_near, v_turns[cardinality(v_turns)] - 1) AND e.seq <= v_to
      AND (e.seq > v_near OR e.seq = ANY(v_turns));
    RETURN NEXT;
END
$$;
