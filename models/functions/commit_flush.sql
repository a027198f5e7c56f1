-- commit_flush: commit the memories, ledger row, search passages and new watermark of a window, or nothing.
--
-- The watermark moves by compare-and-swap from p_from_seq - 1. If it has another value, another worker was faster: the
-- function writes nothing, and committed is false. The ledger's unique key (session, from_seq) is a second guard.
-- p_candidates: [{content, hash (hex), type, status, confidence, importance, trust, entities, valid_from, sources,
--   reason}, …], ordered by (type, hash) so that two flushes of one scope cannot deadlock.
-- p_passages: the events of the window, and up to two events before it as context only, as passage_search_vectors takes
--   them. language: what the text is written in (ISO 639-1), by default English. redacted: a secret was removed from the
--   text, so search shows this text and not the text of the event; the first passage of the event keeps it.
-- If the scope already has a statement, the existing memory gains sources. If another session repeats it, the memory
-- gains confidence. The memory keeps the oldest event time: facts are ordered by when they were said (I9).
CREATE OR REPLACE FUNCTION slowwave.commit_flush(
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
        -- The reply to a first try may have been lost. A ledger row of the same flush is not the row of another worker.
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

    INSERT INTO slowwave.passages (session_id, seq, part, begins, ends, scope_id, search, language, redacted)
    SELECT p_session_id, v.seq, v.part, v.begins, v.ends, v_session.scope_id, v.search, coalesce(p.language, 'en'),
           CASE WHEN p.redacted AND v.part = 0 THEN p.text END
    FROM slowwave.passage_search_vectors(v_session.scope_id, p_passages) AS v
    JOIN jsonb_to_recordset(p_passages) AS p (seq bigint, text text, language text, redacted boolean)
        ON p.seq = v.seq
    WHERE v.seq >= p_from_seq;
    IF p_outcome = 'quarantined' THEN
        UPDATE slowwave.events e SET quarantined_at = p_now
        WHERE e.session_id = p_session_id AND e.seq BETWEEN p_from_seq AND p_to_seq;
    END IF;

    SELECT e.recorded_at, e.turn INTO v_next FROM slowwave.events e
    WHERE e.session_id = p_session_id AND e.seq = p_to_seq + 1;
    -- The session is still due if a later event existed when processing was requested, or if processing was requested
    -- again during the flush. It is also due if it is idle, or if its oldest unflushed event has reached the maximum
    -- age.
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
