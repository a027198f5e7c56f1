-- commit_retry: commit the memories of a quarantined event whose extraction has succeeded after all.
--
-- The event's window is in the ledger already (I2). So the function changes the outcome of that row by
-- compare-and-swap, in one transaction with the memories. committed is false if an earlier call has done this already.
CREATE OR REPLACE FUNCTION slowwave.commit_retry(
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
