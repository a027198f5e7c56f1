-- add_source: one event more that says a memory; the strongest of what the same event said before stays.
--
-- What it says in these words counts alone: a copy (`via` a merged memory) neither alters it nor outlives it, so that
-- taking the merge back leaves what had been there.
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
