-- score_memory: compute the score of a memory from its sources, notes and imports.
--
-- The score is a function of the set of this evidence alone, so any order of arrival gives the same numbers (I9).
--
--   confidence    1 - (1 - c1) * (1 - c2 / 2) * (1 - c3 / 2) * …, with c1 the highest and one c per session: a
--                 session that states the memory five times is one witness; independent sessions add to each other
--   importance    the highest
--   trust         that of the best witness to these very words (hand, user, assistant, task, import), so that an
--                 assistant that repeats a person's statement, or whose paraphrase was merged into it, does not lower
--                 the trust
--   valid_from    the earliest time from which the evidence says that the memory holds; reaffirmed_at is the latest
--
-- All imports (memory_imports) with the same trust are one witness, however many lines of files state the memory:
-- copies of a file are not independent evidence. A line that an export wrote also carries the latest time from which
-- somebody said that the memory holds, beside the earliest.
--
-- Returns whether anything changed. If so, checked_at is NULL again, because no maintenance pass has checked the memory
-- yet. A memory without evidence does not change.
CREATE OR REPLACE FUNCTION slowwave.score_memory(p_memory_id uuid, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v record;
BEGIN
    WITH said AS (
        SELECT x.session_id::text AS witness, x.confidence, x.importance, x.trust, x.holds_from,
               x.holds_from AS last_from, x.via
        FROM slowwave.memory_sources x
        WHERE x.memory_id = p_memory_id
        UNION ALL
        SELECT coalesce(s.id::text, 'noted ' || coalesce(w.session, '')), n.confidence, n.importance, n.trust,
               n.holds_from, n.holds_from, n.via
        FROM slowwave.memory_notes n
        JOIN slowwave.working_memory w ON w.id = n.working_id
        LEFT JOIN slowwave.sessions s ON s.agent_id = w.agent_id AND s.name = w.session
        WHERE n.memory_id = p_memory_id
        UNION ALL
        SELECT 'read ' || i.trust, i.confidence, i.importance, i.trust, i.holds_from,
               greatest(i.holds_from, i.reaffirmed_at), i.via
        FROM slowwave.memory_imports i
        WHERE i.memory_id = p_memory_id
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
        SELECT max(importance) AS importance, min(holds_from) AS valid_from, max(last_from) AS reaffirmed_at,
               (ARRAY['hand', 'user', 'assistant', 'task', 'import'])[(
                   SELECT coalesce(min(p.place) FILTER (WHERE p.via IS NULL), max(p.place)) FROM (
                       SELECT array_position(ARRAY['hand', 'user', 'assistant', 'task', 'import'], t.trust) AS place,
                              t.via
                       FROM said t
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
                      ELSE slowwave.memory_search_vector(
                          m.scope_id, m.content, v.valid_from, m.entities, m.language) END,
        revision = m.revision + 1,
        checked_at = NULL
    WHERE m.id = p_memory_id
      AND (m.confidence, m.importance, m.trust, m.valid_from, m.reaffirmed_at)
          IS DISTINCT FROM (v.confidence, v.importance, v.trust, v.valid_from, v.reaffirmed_at);
    RETURN FOUND;
END
$$;
