-- search_hybrid: find memories and events of some scopes for a question, by words and by vectors, best first.
--
--   p_model      the model that made the vector p_question; if it has no serving vector space, words alone decide
--   the others   as in slowwave.search_text; p_any without a lexeme: the question has no word to search for
--
-- The score is the sum of two z-scores. They say how far above the average of these scopes a document is by its words
-- (BM25, slowwave.search_text) and by its cosine. Both have the same weight, without a parameter to choose
-- (bench/locomo_hybrid.py). The mean of the word score is the same for all documents, so the function leaves it out. A
-- document without a vector yet counts as average. A document without a word of the question is found by its cosine
-- alone, if the cosine is high enough to be significant.
CREATE OR REPLACE FUNCTION slowwave.search_hybrid(
    p_scopes bigint[], p_any tsquery, p_terms tsquery[], p_held double precision[], p_beginnings text[],
    p_documents double precision, p_mean_length double precision, p_events boolean, p_limit integer,
    p_review boolean, p_model text, p_question real[], p_late tsquery DEFAULT NULL
) RETURNS TABLE (
    score double precision, id text, session_id bigint, seq bigint, content text, status text, valid_from timestamptz,
    scope_id bigint, type text, speaker text, superseded_by text, sources jsonb
)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_space_id bigint;
    v_dimension integer;
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_scopes(p_scopes); END IF;
    SELECT s.id, s.dimension INTO v_space_id, v_dimension FROM slowwave.vector_spaces s
    WHERE s.model = p_model AND s.state = 'serving' AND s.dimension = cardinality(p_question);
    IF v_space_id IS NULL THEN
        RETURN QUERY SELECT f.* FROM slowwave.search_text(
            p_scopes, p_any, p_terms, p_held, p_beginnings, p_documents, p_mean_length, p_events, p_limit, p_review,
            p_late
        ) AS f WHERE numnode(p_any) > 0 OR p_late IS NOT NULL;
        RETURN;
    END IF;
    RETURN QUERY
    WITH worded AS MATERIALIZED (
        SELECT CASE WHEN f.seq IS NULL THEN f.id::uuid END AS memory_id, f.session_id, f.seq, f.score
        FROM slowwave.search_text(
            p_scopes, p_any, p_terms, p_held, p_beginnings, p_documents, p_mean_length, p_events, 250, p_review,
            p_late) AS f
        WHERE numnode(p_any) > 0 OR p_late IS NOT NULL
    ), near AS MATERIALIZED (
        SELECT k.kind, n.*
        FROM unnest(CASE WHEN p_events THEN '{memory,passage}' ELSE '{memory}' END::text[]) AS k (kind)
        CROSS JOIN LATERAL slowwave.nearest_vectors(k.kind, v_space_id, v_dimension, p_scopes, p_question, 100) AS n
    ), spread AS MATERIALIZED (
        SELECT v.mean, greatest(sqrt(greatest(v.square - v.mean * v.mean, 0)), 0.03) AS deviation, w.deviation AS words
        FROM (
            SELECT sum(n.vectors * n.mean) / sum(n.vectors) AS mean,
                   sum(n.vectors * n.square) / sum(n.vectors) AS square
            FROM (SELECT DISTINCT n.kind, n.vectors, n.mean, n.square FROM near n) AS n
        ) AS v
        CROSS JOIN (
            -- Documents without a word of the question have the score 0, and they count.
            SELECT coalesce(nullif(sqrt(greatest(
                sum(w.score * w.score) / greatest(p_documents, count(*))
                    - (sum(w.score) / greatest(p_documents, count(*))) ^ 2, 0)), 0), max(w.score)) AS deviation
            FROM worded w
        ) AS w
    ), candidates AS MATERIALIZED (
        SELECT c.memory_id, c.session_id, c.seq, max(c.score) AS score, max(c.cosine) AS cosine
        FROM (
            SELECT w.memory_id, w.session_id, w.seq, w.score, NULL::float8 AS cosine FROM worded w
            UNION ALL
            SELECT n.memory_id, n.session_id, n.seq, NULL, n.cosine FROM near n
        ) AS c
        GROUP BY c.memory_id, c.session_id, c.seq
        -- Any two texts can have a smaller cosine than this.
        HAVING max(c.score) IS NOT NULL OR max(c.cosine) >= 0.25
    ), compared AS MATERIALIZED (
        SELECT c.memory_id, c.session_id, c.seq, c.score, coalesce(
            c.cosine,
            (SELECT -(v.embedding::vector <#> p_question::vector) FROM slowwave.memory_vectors v
             WHERE v.memory_id = c.memory_id AND v.space_id = v_space_id AND v.scope_id = ANY (p_scopes)),
            (SELECT -(v.embedding::vector <#> p_question::vector) FROM slowwave.passage_vectors v
             WHERE v.session_id = c.session_id AND v.seq = c.seq AND v.space_id = v_space_id
               AND v.scope_id = ANY (p_scopes))) AS cosine
        FROM candidates c
    ), weighed AS MATERIALIZED (
        SELECT c.memory_id, c.session_id, c.seq,
               coalesce(c.score / s.words, 0) + CASE
                   -- search_text has already halved the word score of a memory that has ended.
                   WHEN m.valid_to <= now() OR m.superseded_by IS NOT NULL OR m.status = 'review'
                       THEN least(z.z, z.z / 2)
                   ELSE z.z END AS score
        FROM compared c
        CROSS JOIN spread s
        CROSS JOIN LATERAL (SELECT coalesce((c.cosine - s.mean) / s.deviation, 0) AS z) AS z
        LEFT JOIN slowwave.memories m ON m.id = c.memory_id
        -- A second scope check (I8). It also drops memories that were archived after their vector was made.
        WHERE c.seq IS NOT NULL OR m.scope_id = ANY (p_scopes)
            AND (m.status IN ('inbox', 'episode', 'active') OR p_review AND m.status = 'review')
    ), best AS MATERIALIZED (
        SELECT w.* FROM weighed w
        ORDER BY w.score DESC, w.memory_id DESC NULLS LAST, w.session_id DESC, w.seq DESC
        LIMIT p_limit
    )
    SELECT b.score, m.id::text, NULL::bigint, NULL::bigint, m.content, m.status, m.valid_from, m.scope_id, m.type,
           NULL::text, m.superseded_by::text,
           coalesce((
               SELECT jsonb_agg(jsonb_build_array(x.session_id, s.name, x.seq) ORDER BY s.id, x.seq)
               FROM slowwave.memory_sources x
               JOIN slowwave.sessions s ON s.id = x.session_id
               WHERE x.memory_id = m.id
           ), '[]')
    FROM best b
    JOIN slowwave.memories m ON m.id = b.memory_id
    UNION ALL
    SELECT b.score, s.name || '#' || e.seq, e.session_id, e.seq, coalesce(p.redacted, e.content),
           CASE WHEN e.seq > s.processed_until THEN 'pending' ELSE 'processed' END, e.happened_at, s.scope_id, e.kind,
           coalesce(e.name, e.role), NULL, jsonb_build_array(jsonb_build_array(s.id, s.name, e.seq))
    FROM best b
    JOIN slowwave.events e ON e.session_id = b.session_id AND e.seq = b.seq
    JOIN slowwave.sessions s ON s.id = e.session_id AND s.scope_id = ANY (p_scopes)
    LEFT JOIN slowwave.passages p ON p.session_id = e.session_id AND p.seq = e.seq
    ORDER BY 1 DESC, 3 DESC NULLS FIRST, 4 DESC, 2 DESC;
END
$$;
