-- add_source: record that events of a session state a memory, one row of memory_sources per event.
--
-- p_sources: the sequence numbers of the events. p_via: the merged memory that brings the source, or NULL if the event
-- states this memory in its own words.
--
-- If the event already states the memory in these words, the row keeps the highest confidence, the highest importance,
-- the earliest holds_from and its trust. A copy (p_via is not NULL) never changes an existing row. A source in these
-- words replaces a copy. So undoing the merge restores the sources that existed before.
CREATE OR REPLACE FUNCTION slowwave.add_source(
    p_memory_id uuid, p_session_id bigint, p_sources bigint[], p_confidence double precision,
    p_importance double precision, p_trust text, p_holds_from timestamptz, p_via uuid
) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO slowwave.memory_sources AS x (
        memory_id, session_id, seq, confidence, importance, trust, holds_from, via)
    SELECT p_memory_id, p_session_id, unnest(p_sources), p_confidence, p_importance, p_trust, p_holds_from, p_via
    ON CONFLICT (memory_id, session_id, seq) DO UPDATE SET
        confidence = CASE WHEN x.via IS NULL THEN greatest(x.confidence, excluded.confidence)
                          ELSE excluded.confidence END,
        importance = CASE WHEN x.via IS NULL THEN greatest(x.importance, excluded.importance)
                          ELSE excluded.importance END,
        trust = CASE WHEN x.via IS NULL THEN x.trust ELSE excluded.trust END,
        holds_from = CASE WHEN x.via IS NULL THEN least(x.holds_from, excluded.holds_from)
                          ELSE excluded.holds_from END,
        via = NULL
    WHERE excluded.via IS NULL
$$;
