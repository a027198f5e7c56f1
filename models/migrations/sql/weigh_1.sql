-- weigh_memory: make a memory's own of what its sources and notes say, as a function of their set alone, so that any order
-- of arrival ends in the same numbers (I9).
--
--   confidence    1 - (1 - c1) * (1 - c2 / 2) * (1 - c3 / 2) * …, c1 the best, one c a session: a session that says it
--                 five times is one witness; independent sessions add to each other
--   importance    the highest
--   trust         that of the best witness (hand, user, assistant, task, import): an assistant that repeats what a
--                 person said takes nothing from it; of what was merged the part with the worst one decides
--   valid_from    the first time from which it was said to hold; reaffirmed_at the last
--
-- Answers whether anything changed; then no pass has looked at it yet. A memory without sources stays as it is.
CREATE FUNCTION slowwave.weigh_memory(p_memory_id uuid, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v record;
BEGIN
    WITH said AS (
        SELECT x.session_id::text AS witness, x.confidence, x.importance, x.trust, x.holds_from, x.via
        FROM slowwave.memory_sources x
        WHERE x.memory_id = p_memory_id
        UNION ALL
        SELECT coalesce(s.id::text, 'noted ' || coalesce(w.session, '')), n.confidence, n.importance, n.trust,
               n.holds_from, n.via
        FROM slowwave.memory_notes n
        JOIN slowwave.working_memory w ON w.id = n.working_id
        LEFT JOIN slowwave.sessions s ON s.agent_id = w.agent_id AND s.name = w.session
        WHERE n.memory_id = p_memory_id
    ), witnesses AS (
        SELECT w.confidence, row_number() OVER (ORDER BY w.confidence DESC) AS place
        FROM (SELECT max(confidence) AS confidence FROM said GROUP BY witness) AS w
    ), weighed AS (
        SELECT 1 - exp(sum(ln(greatest(1 - w.confidence / CASE WHEN w.place = 1 THEN 1 ELSE 2 END, 1e-12))
                           ORDER BY w.place)) AS confidence
        FROM witnesses w
    )
    SELECT round(w.confidence::numeric, 6)::double precision AS confidence, s.* INTO v
    FROM weighed w, (
        SELECT max(importance) AS importance, min(holds_from) AS valid_from, max(holds_from) AS reaffirmed_at,
               (ARRAY['hand', 'user', 'assistant', 'task', 'import'])[(
                   SELECT max(p.best) FROM (
                       SELECT min(array_position(ARRAY['hand', 'user', 'assistant', 'task', 'import'], t.trust)) AS best
                       FROM said t GROUP BY t.via
                   ) AS p)] AS trust
        FROM said
    ) AS s;
    IF v.confidence IS NULL THEN
        RETURN false;
    END IF;
    UPDATE slowwave.memories m SET
        confidence = v.confidence,
        importance = v.importance,
        trust = v.trust,
        valid_from = v.valid_from,
        reaffirmed_at = v.reaffirmed_at,
        search = CASE WHEN m.valid_from = v.valid_from THEN m.search
                      ELSE slowwave.memory_vector(m.scope_id, m.content, v.valid_from, m.entities) END,
        revision = m.revision + 1,
        checked_at = NULL
    WHERE m.id = p_memory_id
      AND (m.confidence, m.importance, m.trust, m.valid_from, m.reaffirmed_at)
          IS DISTINCT FROM (v.confidence, v.importance, v.trust, v.valid_from, v.reaffirmed_at);
    RETURN FOUND;
END
$$;

-- add_source: one event more that says a memory; the strongest of what the same event said before stays.
--
-- What it says in these words counts alone: a copy (`via` a merged memory) neither alters it nor outlives it, so that
-- taking the merge back leaves what had been there.
CREATE FUNCTION slowwave.add_source(
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
