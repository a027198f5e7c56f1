-- add_usage: add to the usage counters of a call's tenant and agent, for the UTC day and week of its reservation.
CREATE OR REPLACE FUNCTION slowwave.add_usage(
    p_call slowwave.llm_calls, p_calls integer, p_failures integer, p_reserved bigint, p_settled bigint
) RETURNS void
LANGUAGE sql
AS $$
    UPDATE slowwave.llm_usage u SET
        calls = u.calls + p_calls,
        failures = u.failures + p_failures,
        tokens_reserved = u.tokens_reserved + p_reserved,
        tokens_settled = u.tokens_settled + p_settled
    WHERE u.tenant = p_call.tenant AND u.agent IN ('', coalesce(p_call.agent, ''))
      AND (u.period, u.starts) IN (
          ('day', (p_call.reserved_at AT TIME ZONE 'UTC')::date),
          ('week', date_trunc('week', p_call.reserved_at AT TIME ZONE 'UTC')::date))
$$;
