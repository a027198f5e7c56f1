-- search_text: find memories and events of some scopes for a question by its words, best first.
--
--   p_any         documents that match this are candidates; an unflushed event only needs to contain any word
--   p_terms       the words to score, at most ten: one tsquery per word, with its stem in each scope that is searched, and
--                 in each of their languages
--   p_held        how many documents contain each stem; NULL if so few contain it that all of them are candidates
--   p_beginnings  the beginnings of the words that have these stems
--   p_late        documents that match this are candidates if they are among the latest of their scope: 500 memories,
--                 500 of most importance, 1,000 events. It is for stems that very many documents contain. p_any then
--                 applies to memories alone, which are fewer. NULL: the latest documents are not searched
--   p_review      whether memories that wait in review are candidates too; they rank like memories that have ended
--   p_documents   how many documents the scopes hold; p_mean_length: their mean number of lexemes, NULL if unknown
--
-- The score is BM25 with weighted fields, the sum over the words of
--     rarity * t / (t + saturation * (1 - share + share * length / mean length))
-- where t is the weight of the stem in the document: 1 for its own text, speaker and date, less for the turns before.
-- ts_rank of one stem returns this number: the weight of its best place, plus a decreasing amount for each further
-- place, divided by a constant. The numbers were chosen on two conversations and hold on others (bench/locomo.py).
--
-- The query has one column per stem, because a join over stems takes several times as long. It has one plan for all
-- questions. Planning each question would take as long as the search. The plan never uses a sequential scan, because a
-- plan from the time when the tables were empty must not stay in use. It does not sort where an index has the order:
-- the query reads the last rows of a scope, and a sort would read the whole scope.
CREATE OR REPLACE FUNCTION slowwave.search_text(
    p_scopes bigint[], p_any tsquery, p_terms tsquery[], p_held double precision[], p_beginnings text[],
    p_documents double precision, p_mean_length double precision, p_events boolean, p_limit integer,
    p_review boolean DEFAULT false, p_late tsquery DEFAULT NULL
) RETURNS TABLE (
    score double precision, id text, session_id bigint, seq bigint, content text, status text, valid_from timestamptz,
    scope_id bigint, type text, speaker text, superseded_by text, sources jsonb
)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_scopes(p_scopes); END IF;
    RETURN QUERY
    WITH q AS MATERIALIZED (
        SELECT p_terms[1] AS q1, p_terms[2] AS q2, p_terms[3] AS q3, p_terms[4] AS q4, p_terms[5] AS q5,
        p_terms[6] AS q6, p_terms[7] AS q7, p_terms[8] AS q8, p_terms[9] AS q9, p_terms[10] AS q10,
        s[1] AS s1, s[2] AS s2, s[3] AS s3, s[4] AS s4, s[5] AS s5, s[6] AS s6, s[7] AS s7, s[8] AS s8, s[9] AS s9,
        s[10] AS s10
        FROM (
            -- ts_rank divides by the number of lexemes, and a word has one per scope and language that stems it in its
            -- own way.
            SELECT ARRAY(
                SELECT (numnode(t.term) + 1) / 2 / cardinality(p_scopes)::float8
                FROM unnest(p_terms) WITH ORDINALITY AS t (term, place) ORDER BY t.place)
        ) AS n (s)
    ), w AS MATERIALIZED (
        -- The weight of a stem by its field: two turns before, the turn before (entities, for a memory), date, own
        -- text.
        SELECT '{0.4, 0.7, 1, 1}'::float4[] AS field
    ), unflushed AS MATERIALIZED (
        SELECT e.session_id, e.seq, s.scope_id, e.name, e.kind, left(e.content, 4000) AS content, e.happened_at
        FROM (
            -- Read the last sessions of each scope by an index: there may be very many.
            SELECT s.* FROM unnest(p_scopes) AS k (id)
            CROSS JOIN LATERAL (
                SELECT s.id, s.scope_id, s.processed_until, s.last_seen_at FROM slowwave.sessions s
                WHERE s.scope_id = k.id AND s.dirty_since IS NOT NULL AND p_events
                ORDER BY s.last_seen_at DESC
                LIMIT 50
            ) AS s
            ORDER BY s.last_seen_at DESC
            LIMIT 50
        ) AS s
        CROSS JOIN LATERAL (
            SELECT * FROM slowwave.events e
            WHERE e.session_id = s.id AND e.seq > s.processed_until
            ORDER BY e.seq DESC
            LIMIT 100
        ) AS e
        ORDER BY e.recorded_at DESC, e.session_id, e.seq DESC
        LIMIT 200
    ), fresh AS MATERIALIZED (
        -- Parsing is expensive, and a stem is the beginning of its words. So search for these beginnings first.
        SELECT u.session_id, u.seq, u.kind,
               slowwave.passage_search_vector(
                   u.scope_id, u.content, coalesce(u.name, u.kind), u.happened_at,
                   slowwave.guess_language(u.content, k.languages)) AS search
        FROM unflushed u
        CROSS JOIN (SELECT slowwave.scope_languages(p_scopes) OFFSET 0) AS k (languages)
        WHERE EXISTS (
            SELECT FROM unnest(p_beginnings) AS b WHERE strpos(lower(concat_ws(' ', u.name, u.content)), b) > 0)
        LIMIT 60
    ), late_memories AS MATERIALIZED (
        -- The query below already finds memories that match p_any.
        SELECT n.id FROM unnest(p_scopes) AS k (id)
        CROSS JOIN LATERAL (
            SELECT m.id, m.search FROM slowwave.memories m
            WHERE m.scope_id = k.id AND m.status <> 'archived'
              AND (m.status IN ('inbox', 'episode', 'active') OR p_review AND m.status = 'review')
            ORDER BY m.valid_from DESC
            LIMIT 500
        ) AS n
        WHERE p_late IS NOT NULL AND n.search @@ p_late AND NOT n.search @@ p_any
        UNION
        SELECT n.id FROM unnest(p_scopes) AS k (id)
        CROSS JOIN LATERAL (
            SELECT m.id, m.search FROM slowwave.memories m
            WHERE m.scope_id = k.id AND m.status IN ('inbox', 'episode', 'active') AND m.valid_to IS NULL
            ORDER BY m.importance DESC, m.valid_from DESC
            LIMIT 500
        ) AS n
        WHERE p_late IS NOT NULL AND n.search @@ p_late AND NOT n.search @@ p_any
    ), found AS MATERIALIZED (
        SELECT d.memory_id, d.session_id, d.seq, d.counts, d.share, length(d.search) AS length,
           ts_rank(w.field, d.search, q.q1) * q.s1 AS t1, ts_rank(w.field, d.search, q.q2) * q.s2 AS t2,
           ts_rank(w.field, d.search, q.q3) * q.s3 AS t3, ts_rank(w.field, d.search, q.q4) * q.s4 AS t4,
           ts_rank(w.field, d.search, q.q5) * q.s5 AS t5, ts_rank(w.field, d.search, q.q6) * q.s6 AS t6,
           ts_rank(w.field, d.search, q.q7) * q.s7 AS t7, ts_rank(w.field, d.search, q.q8) * q.s8 AS t8,
           ts_rank(w.field, d.search, q.q9) * q.s9 AS t9, ts_rank(w.field, d.search, q.q10) * q.s10 AS t10
        FROM (
            -- The lexemes already contain their scope. This condition is a second scope check (I8). The addition keeps
            -- the planner from reading a whole scope by its other index.
            (SELECT m.id AS memory_id, NULL::bigint AS session_id, NULL::bigint AS seq, true AS counts,
                    -- A memory ranks before the event that it comes from. A memory that has ended ranks behind one that
                    -- holds.
                    CASE WHEN m.valid_to <= now() OR m.superseded_by IS NOT NULL OR m.status = 'review' THEN 0.5
                         ELSE 1.1 END::float8 AS share,
                    m.search
             FROM slowwave.memories m
             WHERE m.search @@ p_any AND m.scope_id + 0 = ANY (p_scopes)
               AND (m.status IN ('inbox', 'episode', 'active') OR p_review AND m.status = 'review')
             LIMIT 1500)
            UNION ALL
            (SELECT NULL, p.session_id, p.seq, true, 1, p.search
             FROM slowwave.passages p
             WHERE p.search @@ p_any AND p.scope_id + 0 = ANY (p_scopes) AND p_events AND p_late IS NULL
             LIMIT 1500)
            UNION ALL
            SELECT m.id, NULL, NULL, true,
                   CASE WHEN m.valid_to <= now() OR m.superseded_by IS NOT NULL OR m.status = 'review' THEN 0.5
                        ELSE 1.1 END,
                   m.search
            FROM late_memories l JOIN slowwave.memories m ON m.id = l.id
            UNION ALL
            SELECT NULL, n.session_id, n.seq, true, 1, n.search FROM unnest(p_scopes) AS k (id)
            CROSS JOIN LATERAL (
                -- A range of one scope, ordered by the scope: only the index that begins with the scope fits.
                SELECT p.session_id, p.seq, p.search FROM slowwave.passages p
                WHERE p.scope_id BETWEEN k.id AND k.id
                ORDER BY p.scope_id DESC, p.session_id DESC, p.seq DESC
                LIMIT 1000
            ) AS n
            WHERE p_late IS NOT NULL AND p_events AND n.search @@ p_late
            UNION ALL
            -- What tools said ranks below what people said; of flushed events the weights of the passage see to that.
            SELECT NULL, f.session_id, f.seq, false, CASE WHEN f.kind = 'tool' THEN 0.8 ELSE 1 END, f.search FROM fresh f
        ) AS d
        CROSS JOIN q CROSS JOIN w
    ), holding AS MATERIALIZED (
        SELECT coalesce(p_mean_length, avg(f.length)) AS mean_length,
               coalesce(p_held[1], count(*) FILTER (WHERE f.t1 > 0 AND f.counts)) AS n1,
               coalesce(p_held[2], count(*) FILTER (WHERE f.t2 > 0 AND f.counts)) AS n2,
               coalesce(p_held[3], count(*) FILTER (WHERE f.t3 > 0 AND f.counts)) AS n3,
               coalesce(p_held[4], count(*) FILTER (WHERE f.t4 > 0 AND f.counts)) AS n4,
               coalesce(p_held[5], count(*) FILTER (WHERE f.t5 > 0 AND f.counts)) AS n5,
               coalesce(p_held[6], count(*) FILTER (WHERE f.t6 > 0 AND f.counts)) AS n6,
               coalesce(p_held[7], count(*) FILTER (WHERE f.t7 > 0 AND f.counts)) AS n7,
               coalesce(p_held[8], count(*) FILTER (WHERE f.t8 > 0 AND f.counts)) AS n8,
               coalesce(p_held[9], count(*) FILTER (WHERE f.t9 > 0 AND f.counts)) AS n9,
               coalesce(p_held[10], count(*) FILTER (WHERE f.t10 > 0 AND f.counts)) AS n10
        FROM found f
    ), rarity AS MATERIALIZED (
        SELECT h.mean_length,
           ln(1 + greatest(p_documents - n1 + 0.5, 0.5) / (n1 + 0.5)) AS r1,
           ln(1 + greatest(p_documents - n2 + 0.5, 0.5) / (n2 + 0.5)) AS r2,
           ln(1 + greatest(p_documents - n3 + 0.5, 0.5) / (n3 + 0.5)) AS r3,
           ln(1 + greatest(p_documents - n4 + 0.5, 0.5) / (n4 + 0.5)) AS r4,
           ln(1 + greatest(p_documents - n5 + 0.5, 0.5) / (n5 + 0.5)) AS r5,
           ln(1 + greatest(p_documents - n6 + 0.5, 0.5) / (n6 + 0.5)) AS r6,
           ln(1 + greatest(p_documents - n7 + 0.5, 0.5) / (n7 + 0.5)) AS r7,
           ln(1 + greatest(p_documents - n8 + 0.5, 0.5) / (n8 + 0.5)) AS r8,
           ln(1 + greatest(p_documents - n9 + 0.5, 0.5) / (n9 + 0.5)) AS r9,
           ln(1 + greatest(p_documents - n10 + 0.5, 0.5) / (n10 + 0.5)) AS r10
        FROM holding h
    ), best AS MATERIALIZED (
        SELECT f.memory_id, f.session_id, f.seq, f.share * (
        coalesce(h.r1 * f.t1 / (f.t1 + f.damping), 0)
        + coalesce(h.r2 * f.t2 / (f.t2 + f.damping), 0)
        + coalesce(h.r3 * f.t3 / (f.t3 + f.damping), 0)
        + coalesce(h.r4 * f.t4 / (f.t4 + f.damping), 0)
        + coalesce(h.r5 * f.t5 / (f.t5 + f.damping), 0)
        + coalesce(h.r6 * f.t6 / (f.t6 + f.damping), 0)
        + coalesce(h.r7 * f.t7 / (f.t7 + f.damping), 0)
        + coalesce(h.r8 * f.t8 / (f.t8 + f.damping), 0)
        + coalesce(h.r9 * f.t9 / (f.t9 + f.damping), 0)
        + coalesce(h.r10 * f.t10 / (f.t10 + f.damping), 0)
        ) AS score
        FROM rarity h CROSS JOIN LATERAL (
            -- 1.2 is the saturation and 0.4 the share of the length. ts_rank divides by 1.64…, once per scope.
            SELECT f.*, 1.2 * (0.6 + 0.4 * f.length / h.mean_length)
                        / (1.64493406685 * cardinality(p_scopes))::float8 AS damping
            FROM found f
            OFFSET 0
        ) AS f
        ORDER BY 4 DESC, f.memory_id DESC NULLS LAST, f.session_id DESC, f.seq DESC
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
    WHERE b.score > 0
    UNION ALL
    SELECT b.score, s.name || '#' || e.seq, e.session_id, e.seq, coalesce(p.redacted, e.content),
           CASE WHEN e.seq > s.processed_until THEN 'pending' ELSE 'processed' END, e.happened_at, s.scope_id, e.kind,
           coalesce(e.name, e.role), NULL, jsonb_build_array(jsonb_build_array(s.id, s.name, e.seq))
    FROM best b
    JOIN slowwave.events e ON e.session_id = b.session_id AND e.seq = b.seq
    JOIN slowwave.sessions s ON s.id = e.session_id
    LEFT JOIN slowwave.passages p ON p.session_id = e.session_id AND p.seq = e.seq
    WHERE b.score > 0
    -- Ties have a stable order: memories first, then the newest.
    ORDER BY 1 DESC, 3 DESC NULLS FIRST, 4 DESC, 2 DESC;
END
$$;
