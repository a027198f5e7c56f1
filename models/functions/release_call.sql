-- release_call: the model was not asked after all (no free slot, a breaker that is open), and the call never was.
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
