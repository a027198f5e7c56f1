-- store_memory: store a statement as a new memory, or add its sources to the memory that the scope already has.
--
-- The database's unique key decides. So if two flushes store the same statement at once, one row results.
--
-- If the statement's memory was merged into another memory, both gain the sources: the first stays archived, and the
-- other gains a source more. A statement that a person rejected stays rejected, however often it is repeated.
CREATE OR REPLACE FUNCTION slowwave.store_memory(
    p_scope_id bigint, p_session_id bigint, p_flush_id bigint, p_content text, p_hash bytea, p_type text,
    p_status text, p_confidence double precision, p_importance double precision, p_trust text, p_entities text[],
    p_valid_from timestamptz, p_sources bigint[], p_reason text, p_now timestamptz,
    p_language text DEFAULT 'en', p_profile jsonb DEFAULT '[]',
    OUT id uuid, OUT is_new boolean
)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_into uuid;
BEGIN
    SELECT m.id, m.merged_into INTO id, v_into
    FROM slowwave.memories m
    WHERE m.scope_id = p_scope_id AND m.type = p_type AND m.content_hash = p_hash AND m.status = 'archived'
      AND (m.merged_into IS NOT NULL OR m.archive_reason = 'rejected')
    ORDER BY m.id
    LIMIT 1;
    is_new := false;
    IF id IS NULL THEN
        INSERT INTO slowwave.memories AS m (
            scope_id, type, content, content_hash, status, confidence, importance, trust, entities, valid_from,
            reaffirmed_at, recorded_at, language, profile, search
        ) VALUES (
            p_scope_id, p_type, p_content, p_hash, p_status, p_confidence, p_importance, p_trust,
            coalesce(p_entities, '{}'), p_valid_from, p_valid_from, p_now, p_language,
            p_profile, slowwave.memory_search_vector(p_scope_id, p_content, p_valid_from, p_entities, p_language)
        )
        ON CONFLICT (scope_id, type, content_hash) WHERE status <> 'archived' DO NOTHING
        RETURNING m.id INTO id;
        is_new := FOUND;
    END IF;
    IF is_new THEN
        PERFORM slowwave.add_source(
            id, p_session_id, p_sources, p_confidence, p_importance, p_trust, p_valid_from, NULL);
        INSERT INTO slowwave.memory_changes (memory_id, flush_id, action, after, reason, made_at)
        VALUES (id, p_flush_id, 'created',
                jsonb_build_object('status', p_status, 'confidence', p_confidence, 'importance', p_importance,
                                   'valid_from', p_valid_from, 'sources', p_sources),
                p_reason, p_now);
        RETURN;
    END IF;
    IF id IS NULL THEN
        SELECT m.id INTO STRICT id
        FROM slowwave.memories m
        WHERE m.scope_id = p_scope_id AND m.type = p_type AND m.content_hash = p_hash AND m.status <> 'archived'
        FOR UPDATE;
    END IF;
    PERFORM slowwave.reinforce_memory(
        id, NULL, p_session_id, p_flush_id, p_confidence, p_importance, p_trust, p_valid_from, p_sources, p_now);
    IF v_into IS NOT NULL THEN
        PERFORM slowwave.reinforce_memory(
            v_into, id, p_session_id, p_flush_id, p_confidence, p_importance, p_trust, p_valid_from, p_sources, p_now);
    END IF;
END
$$;
