-- holds_memories: return whether a scope has a live memory of these types, or one that tells an ending, besides those of
-- a flush.
--
-- Every flush that may end something asks this after its commit, so the plan is kept, and reads by key.
CREATE OR REPLACE FUNCTION slowwave.holds_memories(p_scope_id bigint, p_types text[], p_flush_id bigint) RETURNS boolean
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM slowwave.memories m
        WHERE m.scope_id = p_scope_id AND m.type = ANY (p_types) AND m.status IN ('inbox', 'episode', 'active')
          AND NOT EXISTS (
              SELECT FROM slowwave.memory_changes c WHERE c.flush_id = p_flush_id AND c.memory_id = m.id)
    ) OR EXISTS (
        SELECT FROM slowwave.memories m
        WHERE m.scope_id = p_scope_id AND m.type IN ('decision', 'fact') AND m.status IN ('inbox', 'episode', 'active')
          AND m.content ~ '^[^:]{1,80} (called off|lifted an instruction|corrected): '
          AND NOT EXISTS (
              SELECT FROM slowwave.memory_changes c WHERE c.flush_id = p_flush_id AND c.memory_id = m.id)
    );
END
$$;
