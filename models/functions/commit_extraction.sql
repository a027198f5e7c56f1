-- commit_extraction: run commit_flush, and record the use of the model in its ledger row, in one transaction.
-- The commit also deletes the stored answer about the window.
--
-- p_tokens: the tokens that the model used. p_fallback, p_fallback_why: why another extractor than the configured one
--   made this window (models.flushes.Flush). p_dropped: how many memories of the answer were rejected, by reason.
-- p_aliases: the aliases that the window teaches (slowwave.learn_aliases), NULL if there are none.
--
-- The commit does not wait for the disk. If the server crashes within a second and loses it, it loses all of it: the
-- session is due again, and the window is read again. What has to last was committed with its capture. With a backend
-- the commit waits, because a copy that was delivered must not outlive its memory.
--
-- Turns that arrive while a slow extractor reads a window make the session due again, since capture counts them from
-- the old watermark. Counted from the new watermark, they may be too few for a window of their own. If there are
-- p_turn_threshold turns or fewer and no other reason, the session waits like any session that is not due.
CREATE OR REPLACE FUNCTION slowwave.commit_extraction(
    p_session_id bigint, p_from_seq bigint, p_to_seq bigint, p_invalidated_at bigint,
    p_outcome text, p_extractor text, p_extractor_version text, p_attempt integer,
    p_candidates jsonb, p_passages jsonb, p_noise integer, p_redactions integer, p_error text,
    p_window_limit integer, p_idle_seconds double precision, p_max_dirty_age_seconds double precision,
    p_started_at timestamptz, p_now timestamptz,
    p_tokens bigint, p_fallback text, p_fallback_why text, p_dropped jsonb, p_turn_threshold integer, p_aliases jsonb DEFAULT NULL,
    OUT committed boolean, OUT flush_id bigint, OUT stored integer, OUT repeated integer, OUT due boolean
)
LANGUAGE plpgsql
-- Every statement here reads by key. Planning each of them for every flush costs more than running it. A plan from the
-- time when the tables were empty must not read all of a table.
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    IF NOT EXISTS (SELECT FROM slowwave.memory_backends) THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    SELECT c.committed, c.flush_id, c.stored, c.repeated, c.due INTO committed, flush_id, stored, repeated, due
    FROM slowwave.commit_flush(
        p_session_id, p_from_seq, p_to_seq, p_invalidated_at, p_outcome, p_extractor, p_extractor_version, p_attempt,
        p_candidates, p_passages, p_noise, p_redactions, p_error, p_window_limit, p_idle_seconds,
        p_max_dirty_age_seconds, p_started_at, p_now) AS c;
    IF committed THEN
        DELETE FROM slowwave.window_answers w WHERE w.session_id = p_session_id AND w.from_seq <= p_to_seq;
    END IF;
    IF committed AND p_aliases IS NOT NULL THEN
        PERFORM slowwave.learn_aliases(p_session_id, p_aliases, p_now);
    END IF;
    -- A repeated call finds the row of the first call and sets the same values.
    IF committed AND (p_tokens > 0 OR p_fallback IS NOT NULL OR p_dropped IS NOT NULL) THEN
        UPDATE slowwave.flushes f
        SET tokens = p_tokens, fallback = p_fallback, fallback_why = p_fallback_why, dropped = p_dropped
        WHERE f.id = commit_extraction.flush_id;
    END IF;
    IF due THEN
        UPDATE slowwave.sessions s SET
            invalidated_at = NULL,
            invalidated_by = NULL,
            flush_due_at = least(s.last_seen_at + make_interval(secs => p_idle_seconds),
                                 s.dirty_since + make_interval(secs => p_max_dirty_age_seconds))
        WHERE s.id = p_session_id AND s.invalidated_by = 'turns' AND s.boosted_at IS NULL
          AND s.last_seen_at > p_now - make_interval(secs => p_idle_seconds)
          AND s.dirty_since > p_now - make_interval(secs => p_max_dirty_age_seconds)
          AND (SELECT e.turn FROM slowwave.events e WHERE e.session_id = s.id AND e.seq = s.last_seq)
              - s.processed_turn <= p_turn_threshold;
        due := NOT FOUND;
    END IF;
END
$$;
