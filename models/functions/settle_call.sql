-- settle_call: record the outcome and the cost of a call.
--
-- If p_tokens is NULL, the cost is unknown, and the whole reservation counts. The function corrects a call that was
-- marked as lost. Returns false if the call was settled before; then nothing changes.
CREATE OR REPLACE FUNCTION slowwave.settle_call(
    p_id uuid, p_tenant text, p_outcome text, p_tokens integer, p_now timestamptz
) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_call slowwave.llm_calls;
    v_tokens integer;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('slowwave.llm ' || p_tenant, 0));
    SELECT c.* INTO v_call FROM slowwave.llm_calls c WHERE c.id = p_id AND c.tenant = p_tenant;
    IF NOT FOUND OR v_call.outcome <> 'lost' THEN
        RETURN false;
    END IF;
    v_tokens := coalesce(p_tokens, v_call.tokens_reserved);
    UPDATE slowwave.llm_calls c SET
        outcome = p_outcome, tokens_settled = v_tokens, counted = p_tokens IS NOT NULL, settled_at = p_now
    WHERE c.id = p_id;
    PERFORM slowwave.add_usage(
        v_call,
        0,
        (p_outcome <> 'answered')::integer - (v_call.outcome IS NOT NULL)::integer,
        CASE WHEN v_call.outcome IS NULL THEN -v_call.tokens_reserved ELSE 0 END,
        v_tokens - coalesce(v_call.tokens_settled, 0));
    RETURN true;
END
$$;
