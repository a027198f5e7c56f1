-- score_memory: as in weigh_1.sql, and over what was read from files too (memory_imports).
--
-- What was read from files with the same trust is one witness, however many lines say it: copies of a file are no second
-- opinion. A line that an export wrote brings the latest time from which somebody said that it holds, beside the first.
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
                      ELSE slowwave.memory_search_vector(m.scope_id, m.content, v.valid_from, m.entities) END,
        revision = m.revision + 1,
        checked_at = NULL
    WHERE m.id = p_memory_id
      AND (m.confidence, m.importance, m.trust, m.valid_from, m.reaffirmed_at)
          IS DISTINCT FROM (v.confidence, v.importance, v.trust, v.valid_from, v.reaffirmed_at);
    RETURN FOUND;
END
$$;
