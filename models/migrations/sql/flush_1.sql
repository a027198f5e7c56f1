-- begin_flush: count an attempt and read the window, in one round trip, before any work is done.
--
-- Attempts are counted before the work, so that a window that kills its worker runs out of attempts instead of looping.
-- The sweep's next look moves behind the lease: should this worker die, the session is offered again right after it.
-- Not waiting for the disk: losing the count in a crash of the server costs one more attempt.
-- `events` are those of the window with up to p_preceding before it: what stands at or before processed_until is context.
-- Answers one row; `state` is begin, or why there is nothing to do: unknown, clean, early (not due, or in back-off).
CREATE FUNCTION slowwave.begin_flush(
    p_tenant text, p_agent text, p_session text,
    p_max_messages integer, p_preceding integer,
    p_idle_seconds double precision, p_max_dirty_age_seconds double precision, p_lease_seconds double precision,
    p_now timestamptz
) RETURNS TABLE (
    state text, session_id bigint, scope_id bigint, time_zone text, processed_until bigint, last_seq bigint,
    invalidated_at bigint, attempts smallint, failures smallint, window_limit smallint, events jsonb
)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v record;
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
    IF v.not_before > p_now OR NOT (
        coalesce(v.invalidated_at > v.processed_until, false)
        OR v.last_seen_at <= p_now - make_interval(secs => p_idle_seconds)
        OR v.dirty_since <= p_now - make_interval(secs => p_max_dirty_age_seconds)
    ) THEN
        state := 'early';
        RETURN NEXT;
        RETURN;
    END IF;
    UPDATE slowwave.sessions s
    SET attempts = s.attempts + 1,
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
    SELECT jsonb_agg(jsonb_build_object(
        'seq', e.seq, 'kind', e.kind, 'role', e.role, 'name', e.name, 'content', e.content,
        'happened_at', e.happened_at, 'metadata', e.metadata) ORDER BY e.seq) INTO events
    FROM slowwave.events e
    WHERE e.session_id = v.id AND e.seq > v.processed_until - p_preceding
      AND e.seq <= v.processed_until + least(p_max_messages, coalesce(v.window_limit, p_max_messages));
    RETURN NEXT;
END
$$;

-- commit_flush: the memories of a window, its ledger row, its search passages and the new watermark, or nothing.
--
-- The watermark moves by compare-and-swap from p_from_seq - 1; where it stands elsewhere another worker was faster and
-- nothing is written: committed is false. The ledger's unique key (session, from_seq) backs this up.
-- p_candidates: [{content, hash (hex), type, status, confidence, importance, trust, entities, valid_from, sources,
--   reason}, …], ordered by (type, hash) so that two flushes of one scope never wait for each other crosswise.
-- p_passages: [{seq, text, speaker, at, redacted?}, …]: the window's events, and up to two before it that are context
--   only. redacted: a secret was taken out of the text, so search shows this text and not the event's.
-- A statement that the scope has already gains sources; heard in another session it gains confidence. The oldest event
-- time stays: facts are ordered by when they were said (I9).
CREATE FUNCTION slowwave.commit_flush(
    p_session_id bigint, p_from_seq bigint, p_to_seq bigint, p_invalidated_at bigint,
    p_outcome text, p_extractor text, p_extractor_version text, p_attempt integer,
    p_candidates jsonb, p_passages jsonb, p_noise integer, p_redactions integer, p_error text,
    p_window_limit integer, p_idle_seconds double precision, p_max_dirty_age_seconds double precision,
    p_started_at timestamptz, p_now timestamptz,
    OUT committed boolean, OUT flush_id bigint, OUT stored integer, OUT repeated integer, OUT due boolean
)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_session record;
    v_next record;
    v_oldest timestamptz;
BEGIN
    committed := false;
    stored := 0;
    repeated := 0;
    due := false;
    SELECT s.id, s.scope_id, s.last_seq, s.invalidated_at, s.last_seen_at INTO v_session
    FROM slowwave.sessions s
    WHERE s.id = p_session_id AND s.processed_until = p_from_seq - 1 AND s.last_seq >= p_to_seq
    FOR UPDATE;
    IF NOT FOUND THEN
        -- The answer to a first try may have been lost on its way: the same flush is not another's.
        SELECT f.id, f.stored, f.repeated INTO flush_id, stored, repeated
        FROM slowwave.flushes f
        WHERE f.session_id = p_session_id AND f.from_seq = p_from_seq AND f.to_seq = p_to_seq
          AND f.started_at = p_started_at AND f.attempt = p_attempt;
        committed := FOUND;
        RETURN;
    END IF;

    SELECT e.recorded_at INTO v_oldest FROM slowwave.events e
    WHERE e.session_id = p_session_id AND e.seq = p_from_seq;
    INSERT INTO slowwave.flushes (
        session_id, from_seq, to_seq, outcome, extractor, extractor_version, attempt, noise, redactions,
        error, oldest_recorded_at, started_at, committed_at
    ) VALUES (
        p_session_id, p_from_seq, p_to_seq, p_outcome, p_extractor, p_extractor_version, p_attempt,
        p_noise, p_redactions, p_error, v_oldest, p_started_at, p_now
    ) RETURNING id INTO flush_id;

    SELECT c.stored, c.repeated INTO stored, repeated
    FROM slowwave.store_candidates(v_session.scope_id, p_session_id, flush_id, p_candidates, p_now) AS c;

    INSERT INTO slowwave.passages (session_id, seq, scope_id, search, redacted)
    SELECT p_session_id, v.seq, v_session.scope_id, v.search, p.text
    FROM slowwave.passage_vectors(v_session.scope_id, p_passages) AS v
    LEFT JOIN jsonb_to_recordset(p_passages) AS p (seq bigint, text text, redacted boolean)
        ON p.redacted AND p.seq = v.seq
    WHERE v.seq >= p_from_seq;
    IF p_outcome = 'quarantined' THEN
        UPDATE slowwave.events e SET quarantined_at = p_now
        WHERE e.session_id = p_session_id AND e.seq BETWEEN p_from_seq AND p_to_seq;
    END IF;

    SELECT e.recorded_at, e.turn INTO v_next FROM slowwave.events e
    WHERE e.session_id = p_session_id AND e.seq = p_to_seq + 1;
    -- Still asked for: a later event was there when processing was asked for, or it was asked for again meanwhile.
    due := v_session.last_seq > p_to_seq AND (
        coalesce(v_session.invalidated_at > p_to_seq, false)
        OR v_session.last_seen_at <= p_now - make_interval(secs => p_idle_seconds)
        OR v_next.recorded_at <= p_now - make_interval(secs => p_max_dirty_age_seconds));
    UPDATE slowwave.sessions s SET
        processed_until = p_to_seq,
        processed_turn = (SELECT e.turn FROM slowwave.events e WHERE e.session_id = s.id AND e.seq = p_to_seq),
        invalidated_at = CASE
            WHEN s.invalidated_at > p_to_seq THEN s.invalidated_at
            WHEN s.invalidated_at IS DISTINCT FROM p_invalidated_at AND s.last_seq > p_to_seq THEN s.invalidated_at
        END,
        invalidated_by = CASE WHEN s.last_seq > p_to_seq THEN s.invalidated_by END,
        boosted_at = CASE WHEN s.last_seq > p_to_seq THEN s.boosted_at END,
        dirty_since = v_next.recorded_at,
        flush_due_at = CASE
            WHEN s.last_seq = p_to_seq THEN NULL
            WHEN commit_flush.due THEN p_now
            ELSE least(s.last_seen_at + make_interval(secs => p_idle_seconds),
                       v_next.recorded_at + make_interval(secs => p_max_dirty_age_seconds))
        END,
        attempts = 0,
        failures = 0,
        not_before = NULL,
        last_error = NULL,
        window_limit = p_window_limit
    WHERE s.id = p_session_id;
    committed := true;
END
$$;

-- store_memory: keep a statement, or note that the scope has it already. The database's unique key decides, so two
-- flushes that hear the same thing at once end in one row.
CREATE FUNCTION slowwave.store_memory(
    p_scope_id bigint, p_session_id bigint, p_flush_id bigint, p_content text, p_hash bytea, p_type text,
    p_status text, p_confidence double precision, p_importance double precision, p_trust text, p_entities text[],
    p_valid_from timestamptz, p_sources bigint[], p_reason text, p_now timestamptz,
    OUT id uuid, OUT is_new boolean
)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_old record;
BEGIN
    INSERT INTO slowwave.memories AS m (
        scope_id, type, content, content_hash, status, confidence, importance, trust, entities, valid_from,
        recorded_at, search
    ) VALUES (
        p_scope_id, p_type, p_content, p_hash, p_status, p_confidence, p_importance, p_trust,
        coalesce(p_entities, '{}'), p_valid_from, p_now,
        slowwave.memory_vector(p_scope_id, p_content, p_valid_from, p_entities)
    )
    ON CONFLICT (scope_id, type, content_hash) WHERE status <> 'archived' DO NOTHING
    RETURNING m.id INTO id;
    is_new := FOUND;
    IF is_new THEN
        INSERT INTO slowwave.memory_changes (memory_id, flush_id, action, after, reason, made_at)
        VALUES (id, p_flush_id, 'created',
                jsonb_build_object('status', p_status, 'confidence', p_confidence, 'importance', p_importance,
                                   'valid_from', p_valid_from, 'sources', p_sources),
                p_reason, p_now);
    ELSE
        SELECT m.id, m.confidence, m.importance, m.valid_from,
               EXISTS (SELECT FROM slowwave.memory_sources x
                       WHERE x.memory_id = m.id AND x.session_id = p_session_id) AS heard_here
        INTO STRICT v_old
        FROM slowwave.memories m
        WHERE m.scope_id = p_scope_id AND m.type = p_type AND m.content_hash = p_hash AND m.status <> 'archived'
        FOR UPDATE;
        id := v_old.id;
        UPDATE slowwave.memories m SET
            confidence = CASE WHEN v_old.heard_here THEN greatest(m.confidence, p_confidence)
                              ELSE 1 - (1 - m.confidence) * (1 - p_confidence / 2) END,
            importance = greatest(m.importance, p_importance),
            valid_from = least(m.valid_from, p_valid_from)
        WHERE m.id = v_old.id;
        INSERT INTO slowwave.memory_changes (memory_id, flush_id, action, before, after, reason, made_at)
        SELECT m.id, p_flush_id, 'repeated',
               jsonb_build_object('confidence', v_old.confidence, 'importance', v_old.importance,
                                  'valid_from', v_old.valid_from),
               jsonb_build_object('confidence', m.confidence, 'importance', m.importance,
                                  'valid_from', m.valid_from, 'sources', p_sources),
               CASE WHEN v_old.heard_here THEN 'said again in the same session' ELSE 'said in another session' END,
               p_now
        FROM slowwave.memories m WHERE m.id = v_old.id;
    END IF;
    INSERT INTO slowwave.memory_sources (memory_id, session_id, seq)
    SELECT id, p_session_id, unnest(p_sources)
    ON CONFLICT DO NOTHING;
END
$$;

-- store_candidates: the statements of one flush, each kept or noted as a repetition, and counted in the ledger.
CREATE FUNCTION slowwave.store_candidates(
    p_scope_id bigint, p_session_id bigint, p_flush_id bigint, p_candidates jsonb, p_now timestamptz,
    OUT stored integer, OUT repeated integer
)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_candidate record;
    v_memory record;
BEGIN
    stored := 0;
    repeated := 0;
    IF jsonb_array_length(p_candidates) = 0 THEN
        RETURN;
    END IF;
    FOR v_candidate IN
        SELECT c.* FROM jsonb_to_recordset(p_candidates) AS c (
            content text, hash text, type text, status text, confidence double precision, importance double precision,
            trust text, entities text[], valid_from timestamptz, sources bigint[], reason text)
    LOOP
        SELECT * INTO v_memory FROM slowwave.store_memory(
            p_scope_id, p_session_id, p_flush_id, v_candidate.content, decode(v_candidate.hash, 'hex'),
            v_candidate.type, v_candidate.status, v_candidate.confidence, v_candidate.importance, v_candidate.trust,
            v_candidate.entities, v_candidate.valid_from, v_candidate.sources, v_candidate.reason, p_now);
        stored := stored + v_memory.is_new::integer;
        repeated := repeated + (NOT v_memory.is_new)::integer;
    END LOOP;
    UPDATE slowwave.flushes f
    SET candidates = jsonb_array_length(p_candidates), stored = store_candidates.stored,
        repeated = store_candidates.repeated
    WHERE f.id = p_flush_id;
END
$$;

-- commit_retry: a quarantined event was extracted after all. Its window is in the ledger already (I2), so the row changes
-- its outcome, by compare-and-swap, in one transaction with the memories; committed is false where it was done before.
CREATE FUNCTION slowwave.commit_retry(
    p_session_id bigint, p_seq bigint, p_outcome text, p_extractor text, p_extractor_version text,
    p_candidates jsonb, p_noise integer, p_redactions integer, p_now timestamptz,
    OUT committed boolean, OUT stored integer, OUT repeated integer
)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_flush bigint;
    v_scope bigint;
BEGIN
    committed := false;
    stored := 0;
    repeated := 0;
    UPDATE slowwave.flushes f
    SET outcome = p_outcome, extractor = p_extractor, extractor_version = p_extractor_version, error = NULL,
        noise = p_noise, redactions = p_redactions, attempt = f.attempt + 1, committed_at = p_now
    FROM slowwave.sessions s
    WHERE f.session_id = p_session_id AND f.from_seq = p_seq AND f.to_seq = p_seq AND f.outcome = 'quarantined'
      AND s.id = f.session_id
    RETURNING f.id, s.scope_id INTO v_flush, v_scope;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE slowwave.events e SET quarantined_at = NULL WHERE e.session_id = p_session_id AND e.seq = p_seq;
    SELECT c.stored, c.repeated INTO stored, repeated
    FROM slowwave.store_candidates(v_scope, p_session_id, v_flush, p_candidates, p_now) AS c;
    committed := true;
END
$$;

-- fail_flush: note a failure of the window that was begun at p_processed_until; a window that moved on is left alone.
CREATE FUNCTION slowwave.fail_flush(
    p_session_id bigint, p_processed_until bigint, p_attempts integer, p_failures integer, p_window_limit integer,
    p_not_before timestamptz, p_error text, p_now timestamptz
) RETURNS boolean
LANGUAGE sql
AS $$
    UPDATE slowwave.sessions s SET
        attempts = p_attempts,
        failures = p_failures,
        window_limit = p_window_limit,
        not_before = p_not_before,
        last_error = p_error,
        invalidated_at = coalesce(s.invalidated_at, s.last_seq),
        invalidated_by = coalesce(s.invalidated_by, 'failure'),
        flush_due_at = coalesce(p_not_before, p_now)
    WHERE s.id = p_session_id AND s.processed_until = p_processed_until AND s.last_seq > s.processed_until
    RETURNING true
$$;

-- request_flush: someone asks for flushes by hand. Answers the place of each session that is known (1, 2, …) and whether
-- it is dirty. A back-off ends: whoever asks wants it tried now. Rows are locked in the order in which capture locks.
CREATE FUNCTION slowwave.request_flush(
    p_tenants text[], p_agents text[], p_sessions text[], p_by text, p_now timestamptz
) RETURNS TABLE (place bigint, dirty boolean)
LANGUAGE sql
AS $$
    WITH wanted AS (
        SELECT w.place, s.id
        FROM unnest(p_tenants, p_agents, p_sessions) WITH ORDINALITY AS w (tenant, agent, session, place)
        JOIN slowwave.agents a ON a.tenant = w.tenant AND a.name = w.agent
        JOIN slowwave.sessions s ON s.agent_id = a.id AND s.name = w.session
        ORDER BY w.agent, w.session
        FOR NO KEY UPDATE OF s
    )
    UPDATE slowwave.sessions s SET
        invalidated_at = CASE WHEN s.last_seq > s.processed_until THEN s.last_seq END,
        invalidated_by = CASE WHEN s.last_seq > s.processed_until THEN p_by END,
        not_before = NULL,
        flush_due_at = CASE WHEN s.last_seq > s.processed_until THEN p_now END
    FROM wanted w
    WHERE s.id = w.id
    RETURNING w.place, s.last_seq > s.processed_until
$$;

-- wake_stale: dirty sessions that nobody has seen for p_stale_seconds and that nothing would wake soon get a last
-- flush. Nothing dirty is ever dropped; this mends a lost due time and ends a back-off that outlived its cause.
CREATE FUNCTION slowwave.wake_stale(p_stale_seconds double precision, p_limit integer, p_now timestamptz)
RETURNS integer
LANGUAGE sql
AS $$
    WITH stale AS (
        SELECT s.id FROM slowwave.sessions s
        WHERE s.dirty_since <= p_now - make_interval(secs => p_stale_seconds)
          AND s.last_seen_at <= p_now - make_interval(secs => p_stale_seconds)
          AND (s.flush_due_at IS NULL OR s.not_before > p_now)
          AND s.invalidated_by IS DISTINCT FROM 'stale'
        ORDER BY s.id
        LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    ), woken AS (
        UPDATE slowwave.sessions s SET
            invalidated_at = s.last_seq, invalidated_by = 'stale', not_before = NULL, flush_due_at = p_now
        FROM stale WHERE s.id = stale.id
        RETURNING s.id
    )
    SELECT count(*)::integer FROM woken
$$;
