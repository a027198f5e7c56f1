-- release_call: delete a call that never reached the model (no free slot, or an open circuit breaker).
--
-- The function subtracts the call from the usage counters, as if it had never been reserved.
CREATE OR REPLACE FUNCTION slowwave.release_call(p_id uuid, p_tenant text) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_call slowwave.llm_calls;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('slowwave.llm ' || p_tenant, 0));
    DELETE FROM slowwave.llm_calls c
    WHERE c.id = p_id AND c.tenant = p_tenant AND (c.outcome IS NULL OR c.outcome = 'lost')
    RETURNING c.* INTO v_call;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM slowwave.add_usage(
        v_call,
        -1,
        -(v_call.outcome IS NOT NULL)::integer,
        CASE WHEN v_call.outcome IS NULL THEN -v_call.tokens_reserved ELSE 0 END,
        -coalesce(v_call.tokens_settled, 0));
    RETURN true;
END
$$;
