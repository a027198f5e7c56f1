-- correct_memory: a statement of a window ends another one of its scope, on the word of who said it.
--
-- The older statement stays readable, with the time at which it ended and what replaced it. Nothing happens if it is gone,
-- archived, ended already or of another scope, if it was said later, or if its witness counts for more.
CREATE OR REPLACE FUNCTION slowwave.correct_memory(
    p_scope_id bigint, p_newer uuid, p_older uuid, p_flush_id bigint, p_now timestamptz
) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_ranks CONSTANT text[] := ARRAY['hand', 'user', 'assistant', 'task', 'import'];
    v_newer record;
    v_older record;
    v_ends timestamptz;
BEGIN
    SELECT m.trust, m.valid_from, m.reaffirmed_at INTO v_newer
    FROM slowwave.memories m
    WHERE m.id = p_newer AND m.scope_id = p_scope_id AND m.status IN ('inbox', 'episode', 'active');
    IF NOT FOUND OR p_newer = p_older THEN
        RETURN false;
    END IF;
    SELECT m.trust, m.valid_from, m.reaffirmed_at INTO v_older
    FROM slowwave.memories m
    WHERE m.id = p_older AND m.scope_id = p_scope_id AND m.status IN ('inbox', 'episode', 'active')
      AND m.superseded_by IS NULL AND m.valid_to IS NULL
    FOR UPDATE;
    IF NOT FOUND OR array_position(v_ranks, v_newer.trust) > array_position(v_ranks, v_older.trust)
       OR v_newer.reaffirmed_at < v_older.valid_from THEN
        RETURN false;
    END IF;
    -- A correction may be dated before what it corrects: that never held then.
    v_ends := greatest(v_newer.valid_from, v_older.valid_from);
    UPDATE slowwave.memories m
    SET valid_to = v_ends, superseded_by = p_newer, revision = m.revision + 1, checked_at = NULL
    WHERE m.id = p_older;
    INSERT INTO slowwave.memory_links (source_id, target_id, predicate, confidence, created_at)
    VALUES (p_newer, p_older, 'supersedes', 1, p_now)
    ON CONFLICT DO NOTHING;
    INSERT INTO slowwave.memory_changes (memory_id, flush_id, action, before, after, reason, made_at)
    VALUES (p_older, p_flush_id, 'superseded', jsonb_build_object('valid_to', NULL, 'superseded_by', NULL),
            jsonb_build_object('valid_to', v_ends, 'superseded_by', p_newer),
            'corrected in a conversation', p_now);
    RETURN true;
END
$$;
