-- settle_expired_calls: mark calls whose worker did not report in time as lost, and charge their whole reservation.
CREATE OR REPLACE FUNCTION slowwave.settle_expired_calls(p_tenant text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_call slowwave.llm_calls;
BEGIN
    FOR v_call IN
        UPDATE slowwave.llm_calls c SET outcome = 'lost', tokens_settled = c.tokens_reserved, settled_at = p_now
        WHERE c.tenant = p_tenant AND c.outcome IS NULL AND c.expires_at <= p_now
        RETURNING c.*
    LOOP
        PERFORM slowwave.add_usage(v_call, 0, 1, -v_call.tokens_reserved, v_call.tokens_reserved);
    END LOOP;
END
$$;
