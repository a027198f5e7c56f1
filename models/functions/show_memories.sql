-- show_memories: note that a context of a conversation showed memories.
--
-- The agent may read its own scope and the rooms and teams of its tenant; other ids change nothing. Instructions are not
-- noted: every context shows them, and a reply follows them without repeating them. Nothing is noted for a session that
-- is unknown, or that was forgotten after p_at, the time of the context.
CREATE OR REPLACE FUNCTION slowwave.show_memories(
    p_tenant text, p_agent text, p_session text, p_ids uuid[], p_at timestamptz
) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_session_id bigint;
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_tenant(p_tenant); END IF;
    SELECT s.id INTO v_session_id
    FROM slowwave.sessions s
    JOIN slowwave.agents a ON a.id = s.agent_id
    WHERE a.tenant = p_tenant AND a.name = p_agent AND s.name = p_session
      AND NOT EXISTS (
          SELECT FROM slowwave.erased_names n
          WHERE n.tenant = p_tenant AND n.agent = p_agent AND n.session IN ('', p_session) AND n.erased_at >= p_at);
    INSERT INTO slowwave.memory_uses AS u (memory_id, session_id, shown_at)
    SELECT m.id, v_session_id, least(p_at, now())
    FROM slowwave.memories m
    JOIN slowwave.scopes k ON k.id = m.scope_id
    WHERE m.id = ANY (p_ids) AND k.tenant = p_tenant AND (k.kind <> 'agent' OR k.name = p_agent)
      AND m.type <> 'instruction' AND v_session_id IS NOT NULL
    ORDER BY m.id
    ON CONFLICT (memory_id, session_id) DO UPDATE SET shown_at = greatest(u.shown_at, excluded.shown_at);
END
$$;
