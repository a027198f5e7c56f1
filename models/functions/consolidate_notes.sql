-- consolidate_notes: turn items of working memory into memories, or link them to memories that the scope already has.
--
-- The function then settles the items. The database's unique key decides whether a statement is new. So if a
-- consolidation cycle and a flush store the same statement at once, one row results (mistake 27).
--
-- p_items: [{id, type, content, hash, status, confidence, importance, trust, entities, said_at, reason, language?,
--   profile?, repeats, repeats_item}, …]. `repeats`: the memory that already states this. `repeats_item`: the item of this call that
--   already states this.
-- Returns one row per item: the memory that holds it now, and whether that memory is new.
--
-- As in store_memory, if a memory was merged, the surviving memory gains the note too, and a statement that a person
-- rejected stays rejected. The function locks memories in the order in which flushes lock them, so that they cannot
-- deadlock.
CREATE OR REPLACE FUNCTION slowwave.consolidate_notes(
    p_scope_id bigint, p_run_id bigint, p_by text, p_items jsonb, p_now timestamptz
) RETURNS TABLE (item uuid, memory uuid, is_new boolean)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v record;
BEGIN
    FOR v IN
        SELECT x.*, decode(x.hash, 'hex') AS key
        FROM jsonb_to_recordset(p_items) AS x (
            id uuid, type text, content text, hash text, status text, confidence double precision,
            importance double precision, trust text, entities text[], said_at timestamptz, reason text, language text,
            profile jsonb, repeats uuid, repeats_item uuid)
        ORDER BY x.repeats_item IS NOT NULL, x.repeats IS NOT NULL, x.type, x.hash, x.said_at, x.id
    LOOP
        item := v.id;
        memory := v.repeats;
        IF v.repeats_item IS NOT NULL THEN
            SELECT n.memory_id INTO memory FROM slowwave.memory_notes n
            WHERE n.working_id = v.repeats_item AND n.via IS NULL;
        END IF;
        is_new := false;
        IF memory IS NULL THEN
            SELECT m.id INTO memory
            FROM slowwave.memories m
            WHERE m.scope_id = p_scope_id AND m.type = v.type AND m.content_hash = v.key AND m.status = 'archived'
              AND (m.merged_into IS NOT NULL OR m.archive_reason = 'rejected')
            ORDER BY m.id
            LIMIT 1;
        END IF;
        IF memory IS NULL THEN
            INSERT INTO slowwave.memories AS m (
                scope_id, type, content, content_hash, status, confidence, importance, trust, entities, valid_from,
                reaffirmed_at, recorded_at, language, profile, search
            ) VALUES (
                p_scope_id, v.type, v.content, v.key, v.status, v.confidence, v.importance, v.trust,
                coalesce(v.entities, '{}'), v.said_at, v.said_at, p_now, coalesce(v.language, 'en'),
                coalesce(v.profile, '[]'),
                slowwave.memory_search_vector(
                    p_scope_id, v.content, v.said_at, v.entities, coalesce(v.language, 'en'))
            )
            ON CONFLICT (scope_id, type, content_hash) WHERE status <> 'archived' DO NOTHING
            RETURNING m.id INTO memory;
            is_new := FOUND;
            IF NOT is_new THEN
                SELECT m.id INTO STRICT memory
                FROM slowwave.memories m
                WHERE m.scope_id = p_scope_id AND m.type = v.type AND m.content_hash = v.key
                  AND m.status <> 'archived';
            END IF;
        END IF;
        IF is_new THEN
            INSERT INTO slowwave.memory_notes (
                memory_id, working_id, confidence, importance, trust, holds_from)
            VALUES (memory, v.id, v.confidence, v.importance, v.trust, v.said_at);
            INSERT INTO slowwave.memory_changes (memory_id, run_id, made_by, action, after, reason, made_at)
            VALUES (memory, p_run_id, p_by, 'created',
                    jsonb_build_object('status', v.status, 'confidence', v.confidence, 'importance', v.importance,
                                       'valid_from', v.said_at, 'noted', v.id),
                    v.reason, p_now);
        ELSE
            PERFORM slowwave.reinforce_from_note(
                memory, NULL, v.id, p_run_id, p_by, v.confidence, v.importance, v.trust, v.said_at, v.reason, p_now);
            PERFORM slowwave.reinforce_from_note(
                m.merged_into, m.id, v.id, p_run_id, p_by, v.confidence, v.importance, v.trust, v.said_at,
                'noted in the words of a memory that was merged into this one', p_now)
            FROM slowwave.memories m
            WHERE m.id = memory AND m.merged_into IS NOT NULL;
        END IF;
        UPDATE slowwave.working_memory w SET
            outcome = CASE WHEN is_new THEN 'consolidated' ELSE 'duplicate' END,
            settled_at = p_now,
            run_id = p_run_id
        WHERE w.id = v.id AND w.scope_id = p_scope_id AND w.outcome IS NULL;
        RETURN NEXT;
    END LOOP;
END
$$;
