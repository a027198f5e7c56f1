-- reserve_call: reserve p_tokens for a call of a model, or say which budget cap prevents the call and until when.
--
-- p_until is NULL for the cap of a run, and if the call alone exceeds the cap. A cap of 0 means no cap. If the same
-- call is sent twice, the function reserves once.
--
-- The functions of model budgets (I7) reserve tokens before a call and settle them after it, whatever the outcome:
--
--   reserve_call ──▶ open ──settle_call──▶ answered | failed | unanswered
--                     │  │                         ▲
--                     │  └─release_call──▶ deleted │ settle_call: the worker is alive after all and knows the cost
--                     └──expires_at passes──▶ lost ┘
--
-- All changes for one tenant run one after another, under the tenant's lock. So no reservation reads counters that
-- another transaction is about to change. Other tenants have other locks. Each of these functions is a transaction of
-- its own, so no transaction holds a lock while a model answers.
CREATE OR REPLACE FUNCTION slowwave.reserve_call(
    p_id uuid,
    p_tenant text,
    p_agent text,
    p_run bigint,
    p_purpose text,
    p_model text,
    p_prompt text,
    p_tokens integer,
    p_now timestamptz,
    p_seconds double precision,
    p_daily bigint,
    p_weekly bigint,
    p_agent_daily bigint,
    p_agent_weekly bigint,
    p_calls_per_run integer,
    OUT p_cap text,
    OUT p_until timestamptz
)
LANGUAGE plpgsql
AS $$
DECLARE
    v_day date := (p_now AT TIME ZONE 'UTC')::date;
    v_week date := date_trunc('week', p_now AT TIME ZONE 'UTC')::date;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('slowwave.llm ' || p_tenant, 0));
    PERFORM FROM slowwave.llm_calls c WHERE c.id = p_id;
    IF FOUND THEN
        RETURN;
    END IF;
    PERFORM slowwave.settle_expired_calls(p_tenant, p_now);
    IF p_run IS NOT NULL AND p_calls_per_run > 0
       AND (SELECT count(*) FROM slowwave.llm_calls c WHERE c.run_id = p_run) >= p_calls_per_run THEN
        p_cap := 'max_calls_per_run';
        RETURN;
    END IF;
    SELECT b.cap, CASE WHEN p_tokens <= b.most THEN b.ends::timestamp AT TIME ZONE 'UTC' END
    INTO p_cap, p_until
    FROM (VALUES
        ('daily_token_budget', '', 'day', v_day, v_day + 1, p_daily),
        ('weekly_token_budget', '', 'week', v_week, v_week + 7, p_weekly),
        ('agent_daily_token_budget', p_agent, 'day', v_day, v_day + 1, p_agent_daily),
        ('agent_weekly_token_budget', p_agent, 'week', v_week, v_week + 7, p_agent_weekly)
    ) AS b (cap, agent, period, starts, ends, most)
    LEFT JOIN slowwave.llm_usage u
        ON u.tenant = p_tenant AND u.agent = b.agent AND u.period = b.period AND u.starts = b.starts
    WHERE b.most > 0 AND b.agent IS NOT NULL
      AND coalesce(u.tokens_reserved + u.tokens_settled, 0) + p_tokens > b.most
    ORDER BY 2 DESC NULLS FIRST, b.cap
    LIMIT 1;
    IF p_cap IS NOT NULL THEN
        RETURN;
    END IF;
    INSERT INTO slowwave.llm_calls (
        id, tenant, agent, run_id, purpose, model, prompt, tokens_reserved, reserved_at, expires_at
    ) VALUES (
        p_id, p_tenant, p_agent, p_run, p_purpose, p_model, p_prompt, p_tokens, p_now,
        p_now + make_interval(secs => p_seconds)
    );
    INSERT INTO slowwave.llm_usage AS u (tenant, agent, period, starts, calls, tokens_reserved)
    SELECT p_tenant, who.agent, span.period, span.starts, 1, p_tokens
    FROM (SELECT '' AS agent UNION SELECT p_agent WHERE p_agent IS NOT NULL) AS who
    CROSS JOIN (VALUES ('day', v_day), ('week', v_week)) AS span (period, starts)
    ON CONFLICT (tenant, agent, period, starts) DO UPDATE SET
        calls = u.calls + 1, tokens_reserved = u.tokens_reserved + excluded.tokens_reserved;
END
$$;
