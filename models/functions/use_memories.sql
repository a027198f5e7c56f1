-- use_memories: note that a reply of an agent used memories; return how many of them the agent may read.
--
-- The agent may read its own scope and the rooms and teams of its tenant; other ids change nothing.
-- A use counts once for each conversation, so a call that is repeated changes nothing but the time of the last use.
-- A session that is NULL or unknown counts as one conversation.
CREATE OR REPLACE FUNCTION slowwave.use_memories(p_tenant text, p_agent text, p_ids uuid[], p_session text)
RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    v_session_id bigint;
    v_marked integer;
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_tenant(p_tenant); END IF;
    SELECT s.id INTO v_session_id
    FROM slowwave.sessions s
    JOIN slowwave.agents a ON a.id = s.agent_id
    WHERE a.tenant = p_tenant AND a.name = p_agent AND s.name = p_session;
    INSERT INTO slowwave.memory_uses AS u (memory_id, session_id, last_used_at)
    SELECT m.id, v_session_id, now()
    FROM slowwave.memories m
    JOIN slowwave.scopes k ON k.id = m.scope_id
    WHERE m.id = ANY (p_ids) AND k.tenant = p_tenant AND (k.kind <> 'agent' OR k.name = p_agent)
    ORDER BY m.id
    ON CONFLICT (memory_id, session_id) DO UPDATE SET last_used_at = greatest(u.last_used_at, excluded.last_used_at);
    GET DIAGNOSTICS v_marked = ROW_COUNT;
    RETURN v_marked;
END
$$;
