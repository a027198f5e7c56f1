-- settle_days: mark ended days as settling: their final summary is in progress.
--
-- Days that are truly final do not change.
--
-- p_agents, p_scopes, p_days: one day each. If the row of a day cannot be written, the function raises a warning and
--   skips the day. That day will fail by itself, and the other days do not wait for it.
CREATE OR REPLACE FUNCTION slowwave.settle_days(p_agents bigint[], p_scopes bigint[], p_days date[]) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_day record;
BEGIN
    FOR v_day IN
        SELECT a.id AS agent_id, u.scope_id, u.day
        FROM unnest(p_agents, p_scopes, p_days) AS u(agent_id, scope_id, day)
        JOIN slowwave.agents a ON a.id = u.agent_id
        ORDER BY 1, 2, 3
    LOOP
        BEGIN
            INSERT INTO slowwave.days AS y (agent_id, scope_id, day, status)
            VALUES (v_day.agent_id, v_day.scope_id, v_day.day, 'settling')
            ON CONFLICT (agent_id, scope_id, day) DO UPDATE SET status = 'settling'
            WHERE y.status = 'open' OR (y.status = 'final' AND y.last_summarized_total <> (
                SELECT coalesce(sum(d.total_messages), 0) FROM slowwave.session_days d
                WHERE d.agent_id = y.agent_id AND d.day = y.day AND d.scope_id = y.scope_id));
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'day % of agent % can''t be marked: %', v_day.day, v_day.agent_id, SQLSTATE;
        END;
    END LOOP;
END
$$;
