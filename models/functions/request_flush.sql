-- request_flush: request flushes of sessions by hand.
--
-- Returns the position (1, 2, …) of each known session and whether it is dirty. A back-off ends, because the caller
-- wants the flush now. The function locks rows in the order in which capture locks them.
CREATE OR REPLACE FUNCTION slowwave.request_flush(
    p_tenants text[], p_agents text[], p_sessions text[], p_by text, p_now timestamptz
) RETURNS TABLE (place bigint, dirty boolean)
LANGUAGE sql
AS $$
    WITH wanted AS (
        SELECT w.place, s.id
        FROM unnest(p_tenants, p_agents, p_sessions) WITH ORDINALITY AS w (tenant, agent, session, place)
        JOIN slowwave.agents a ON a.tenant = w.tenant AND a.name = w.agent
        JOIN slowwave.sessions s ON s.agent_id = a.id AND s.name = w.session
        ORDER BY w.agent, w.session
        FOR NO KEY UPDATE OF s
    )
    UPDATE slowwave.sessions s SET
        invalidated_at = CASE WHEN s.last_seq > s.processed_until THEN s.last_seq END,
        invalidated_by = CASE WHEN s.last_seq > s.processed_until THEN p_by END,
        not_before = NULL,
        flush_due_at = CASE WHEN s.last_seq > s.processed_until THEN p_now END
    FROM wanted w
    WHERE s.id = w.id
    RETURNING w.place, s.last_seq > s.processed_until
$$;
