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

-- change_usage: add to the counters that a call counts for: its tenant's and its agent's, of the day and the week of its
-- reservation.
CREATE FUNCTION slowwave.change_usage(
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

-- settle_lost: calls whose worker has not come back in time count with all that was reserved for them.
CREATE FUNCTION slowwave.settle_lost(p_tenant text, p_now timestamptz) RETURNS void
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
        PERFORM slowwave.change_usage(v_call, 0, 1, -v_call.tokens_reserved, v_call.tokens_reserved);
    END LOOP;
END
$$;

-- reserve_call: set p_tokens aside for a call, or say which cap stands against it and until when. p_until is null for the
-- cap of a run, and where the call alone is larger than the cap. A cap of 0 is none. Sent twice it reserves once.
CREATE FUNCTION slowwave.reserve_call(
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
    PERFORM slowwave.settle_lost(p_tenant, p_now);
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

-- settle_call: what became of a call. p_tokens null: nobody knows what it cost, and its whole reservation counts. A call
-- that was taken for lost is put right. False where it was settled before; then nothing changes.
CREATE FUNCTION slowwave.settle_call(
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
    PERFORM slowwave.change_usage(
        v_call,
        0,
        (p_outcome <> 'answered')::integer - (v_call.outcome IS NOT NULL)::integer,
        CASE WHEN v_call.outcome IS NULL THEN -v_call.tokens_reserved ELSE 0 END,
        v_tokens - coalesce(v_call.tokens_settled, 0));
    RETURN true;
END
$$;

-- release_call: the model was not asked after all (no free slot, a breaker that is open), and the call never was.
CREATE FUNCTION slowwave.release_call(p_id uuid, p_tenant text) RETURNS boolean
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
    PERFORM slowwave.change_usage(
        v_call,
        -1,
        -(v_call.outcome IS NOT NULL)::integer,
        CASE WHEN v_call.outcome IS NULL THEN -v_call.tokens_reserved ELSE 0 END,
        -coalesce(v_call.tokens_settled, 0));
    RETURN true;
END
$$;
