-- Budgets of calls of models (I7): reserved before, settled after, whatever became of the call.
--
--   reserve_call ──▶ open ──settle_call──▶ answered | failed | unanswered
--                     │  │                         ▲
--                     │  └─release_call──▶ gone    │ settle_call: its worker lives after all, and knows what it cost
--                     └──expires_at passes──▶ lost ┘
--
-- All that counts for one tenant happens one after another, under the tenant's lock: no reservation reads counters that
-- another is about to change. Other tenants have other locks, and nobody holds one while a model is asked: each of these
-- functions is a transaction of its own.

-- add_usage: add to the counters that a call counts for: its tenant's and its agent's, of the day and the week of its
-- reservation.
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
