-- remember_waited: `remember` for a note that was taken at p_taken and waited since. All null where its agent, session or
-- scope was forgotten meanwhile.
--
-- The agent's row is locked before the fence is read: a forget that is under way is waited for, and its fence is seen.
CREATE FUNCTION slowwave.remember_waited(
    p_tenant text,
    p_agent text,
    p_scope_kind text,
    p_scope_name text,
    p_session text,
    p_type text,
    p_content text,
    p_importance double precision,
    p_marked boolean,
    p_key text,
    p_ttl_seconds double precision,
    p_said_at timestamptz,
    p_time_zone text,
    p_cutoff_hour integer,
    p_taken timestamptz,
    OUT id uuid, OUT is_new boolean, OUT expires_at timestamptz
)
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM FROM slowwave.agents a WHERE a.tenant = p_tenant AND a.name = p_agent FOR KEY SHARE;
    PERFORM FROM slowwave.scopes k
    WHERE k.tenant = p_tenant AND k.kind = p_scope_kind AND k.name = p_scope_name FOR KEY SHARE;
    PERFORM FROM slowwave.erased_names n
    WHERE n.tenant = p_tenant AND n.erased_at >= p_taken
      AND (n.agent = p_agent AND n.session IN ('', p_session)
           OR n.agent = '' AND n.session = p_scope_kind || ':' || p_scope_name);
    IF FOUND THEN
        RETURN;
    END IF;
    SELECT r.id, r.is_new, r.expires_at INTO id, is_new, expires_at
    FROM slowwave.remember(
        p_tenant, p_agent, p_scope_kind, p_scope_name, p_session, p_type, p_content, p_importance, p_marked, p_key,
        p_ttl_seconds, coalesce(p_said_at, p_taken), p_time_zone, p_cutoff_hour) AS r;
END
$$;

-- What a deleted row may still be pointed at from: without these every single row would be looked for in all of a table.
CREATE INDEX memories_superseded_idx ON slowwave.memories (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memory_changes_flush_idx ON slowwave.memory_changes (flush_id) WHERE flush_id IS NOT NULL;
CREATE INDEX memory_links_source_idx ON slowwave.memory_links (source_id);
CREATE INDEX memory_links_ended_idx ON slowwave.memory_links (ended_by) WHERE ended_by IS NOT NULL;
CREATE INDEX review_items_about_idx ON slowwave.review_items (memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX review_items_about_conflict_idx ON slowwave.review_items (conflict_id) WHERE conflict_id IS NOT NULL;
