-- search: find memories and passages of events in some scopes for a question, best first.
--
--   p_any         documents that match this are candidates; an unflushed event only needs to contain any word. Without a
--                 lexeme, the question has no word to search for, and vectors alone decide
--   p_terms       the words to score, at most twenty: one tsquery per word, with its stem in each scope that is searched,
--                 and in each of their languages
--   p_held        how many documents contain each stem; NULL if so few contain it that all of them are candidates
--   p_beginnings  the beginnings of the words that have these stems
--   p_late        documents that match this are candidates if they are among the latest of their scope: 500 memories,
--                 500 of most importance, 1,000 passages. It is for stems that very many documents contain. p_any then
--                 applies to memories alone, which are fewer. NULL: the latest documents are not searched
--   p_review      whether memories that wait in review are candidates too; they rank like memories that have ended
--   p_documents   how many documents the scopes hold; p_mean_length: their mean number of lexemes, NULL if unknown
--   p_ranking     the parameters by their names, from one table (slowwave.recall.ranking), which explains each of them
--   p_model       the model that made the vector p_question; NULL, or if it has no serving vector space: words decide
--   p_from, p_to  the interval of the question; a document whose event time lies in it gains. NULL: no limit
--   p_names       a bit for each name of the question, for the words of that name; 0 for any other word; NULL: no name
--
-- The score is a sum, in standard deviations of the word scores and of the cosines of these scopes:
--   words     BM25 with weighted fields: over the words, rarity * t / (t + saturation * (1 - share + share * length /
--             mean length)), where t is the weight of the stem in the document. ts_rank of one stem returns this number:
--             the weight of its best place, plus a decreasing amount for each further place, divided by a constant
--   session   the mean word score of the events of its session: a conversation about the topic lifts all its parts
--   cosine    of the vectors of question and document. A document without a vector yet counts as average. Of the nearer
--             one of the two turns before, a share is added; their words count too
--   memory    of an event: a share of the words and the cosine of the best memory that was made from it; it is part of those
--   recency   a share of this sum, if the ranking's recency is above 0: the larger, the closer the document's event time is
--             to the newest one of these documents
--   interval  a share of the best score of the rest
--   use       of a memory: another share of the best score, for replies that used it, or lost to contexts that showed it in vain
-- The second passage of one event counts less than the first, the third less than the second.
--
-- coverage is the share of the words of the question that the document holds, weighted by rarity, from 0 to 1. Of it,
-- names is the part of the question's names that the document holds; named: of all its names. A word of a name counts half
-- if the document lacks another word of it: who knows an Amelia and a Rossi need not know Amelia Rossi.
--
-- The query has one column per stem, because a join over stems takes several times as long: the loader repeats each line
-- that contains a number sign for each of the twenty. It has one plan for all questions. Planning each question would
-- take as long as the search. The plan never uses a sequential scan, because a plan from the time when the tables were
-- empty must not stay in use. It does not sort where an index has the order: the query reads the last rows of a scope,
-- and a sort would read the whole scope.
CREATE OR REPLACE FUNCTION slowwave.search(
    p_scopes bigint[], p_any tsquery, p_terms tsquery[], p_held double precision[], p_beginnings text[],
    p_documents double precision, p_mean_length double precision, p_events boolean, p_limit integer,
    p_ranking jsonb, p_review boolean DEFAULT false, p_late tsquery DEFAULT NULL, p_model text DEFAULT NULL,
    p_question real[] DEFAULT NULL, p_from timestamptz DEFAULT NULL, p_to timestamptz DEFAULT NULL,
    p_names integer[] DEFAULT NULL
) RETURNS TABLE (
    score double precision, id text, session_id bigint, seq bigint, part integer, begins integer, ends integer,
    content text, status text, valid_from timestamptz, valid_to timestamptz, scope_id bigint, type text, speaker text,
    superseded_by text, sources jsonb, words double precision, session double precision, vector double precision,
    "interval" double precision, recency double precision, coverage double precision, cosine double precision,
    names double precision, named double precision
)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_space_id bigint;
    v_dimension integer;
    v_worded boolean := numnode(p_any) > 0 OR p_late IS NOT NULL;
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_scopes(p_scopes); END IF;
    IF p_question IS NOT NULL THEN
        SELECT s.id, s.dimension INTO v_space_id, v_dimension FROM slowwave.vector_spaces s
        WHERE s.model = p_model AND s.state = 'serving' AND s.dimension = cardinality(p_question);
    END IF;
    IF NOT v_worded AND v_space_id IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH r AS MATERIALIZED (
        SELECT x.* FROM jsonb_to_record(p_ranking) AS x (
            fields float4[], saturation float8, length_share float8, memory float8, ended float8, tool float8,
            session float8, session_events float8, vector float8, least_cosine float8, least_deviation float8, "interval" float8,
            diversity float8, use float8, recency float8, recency_days float8, remembered float8, turns_before float8)
    ), q AS MATERIALIZED (
        SELECT
            p_terms[#] AS q#, s[#] AS s#, coalesce(p_names[#], 0) AS name#,
            NULL AS nothing
        FROM (
            -- ts_rank divides by the number of lexemes, and a word has one per scope and language that stems it in its
            -- own way.
            SELECT ARRAY(
                SELECT (numnode(t.term) + 1) / 2 / cardinality(p_scopes)::float8
                FROM unnest(p_terms) WITH ORDINALITY AS t (term, place) ORDER BY t.place)
        ) AS n (s)
    ), unflushed AS MATERIALIZED (
        SELECT e.session_id, e.seq, s.scope_id, e.name, e.kind, left(e.content, 4000) AS content, e.happened_at
        FROM (
            -- Read the last sessions of each scope by an index: there may be very many.
            SELECT s.* FROM unnest(p_scopes) AS k (id)
            CROSS JOIN LATERAL (
                SELECT s.id, s.scope_id, s.processed_until, s.last_seen_at FROM slowwave.sessions s
                WHERE s.scope_id = k.id AND s.dirty_since IS NOT NULL AND p_events AND v_worded
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
                   slowwave.guess_language(u.content, (SELECT slowwave.scope_languages(p_scopes)))) AS search
        FROM unflushed u
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
            ORDER BY slowwave.learned_importance(m.importance, m.use_gain) DESC, m.valid_from DESC
            LIMIT 500
        ) AS n
        WHERE p_late IS NOT NULL AND n.search @@ p_late AND NOT n.search @@ p_any
    ), found AS MATERIALIZED (
        SELECT d.memory_id, d.session_id, d.seq, d.part, d.counts, length(d.search) AS length,
           CASE WHEN d.memory_id IS NOT NULL THEN r.memory ELSE 1 END * CASE WHEN d.has_ended THEN r.ended ELSE 1 END
               * CASE WHEN d.is_tool THEN r.tool ELSE 1 END AS share,
           ts_rank(r.fields, d.search, q.q#) * q.s# AS t#,
           NULL AS nothing
        FROM (
            -- The lexemes already contain their scope. This condition is a second scope check (I8). The addition keeps
            -- the planner from reading a whole scope by its other index.
            (SELECT m.id AS memory_id, NULL::bigint AS session_id, NULL::bigint AS seq, NULL::integer AS part,
                    true AS counts, m.valid_to <= now() OR m.superseded_by IS NOT NULL OR m.status = 'review'
                        AS has_ended, false AS is_tool, m.search
             FROM slowwave.memories m
             WHERE m.search @@ p_any AND m.scope_id + 0 = ANY (p_scopes)
               AND (m.status IN ('inbox', 'episode', 'active') OR p_review AND m.status = 'review')
             LIMIT 1500)
            UNION ALL
            (SELECT NULL, p.session_id, p.seq, p.part, true, false, false, p.search
             FROM slowwave.passages p
             WHERE p.search @@ p_any AND p.scope_id + 0 = ANY (p_scopes) AND p_events AND p_late IS NULL
             LIMIT 1500)
            UNION ALL
            SELECT m.id, NULL, NULL, NULL, true,
                   m.valid_to <= now() OR m.superseded_by IS NOT NULL OR m.status = 'review', false, m.search
            FROM late_memories l JOIN slowwave.memories m ON m.id = l.id
            UNION ALL
            SELECT NULL, n.session_id, n.seq, n.part, true, false, false, n.search FROM unnest(p_scopes) AS k (id)
            CROSS JOIN LATERAL (
                -- A range of one scope, ordered by the scope: only the index that begins with the scope fits.
                SELECT p.session_id, p.seq, p.part, p.search FROM slowwave.passages p
                WHERE p.scope_id BETWEEN k.id AND k.id
                ORDER BY p.scope_id DESC, p.session_id DESC, p.seq DESC, p.part DESC
                LIMIT 1000
            ) AS n
            WHERE p_late IS NOT NULL AND p_events AND n.search @@ p_late
            UNION ALL
            -- What tools said ranks below what people said; of flushed events the weights of the passage see to that.
            SELECT NULL, f.session_id, f.seq, 0, false, false, f.kind = 'tool', f.search FROM fresh f
        ) AS d
        CROSS JOIN q CROSS JOIN r
    ), holding AS MATERIALIZED (
        SELECT
               coalesce(p_held[#], count(*) FILTER (WHERE f.t# > 0 AND f.counts)) AS n#,
               coalesce(p_mean_length, avg(f.length)) AS mean_length
        FROM found f
    ), rarity AS MATERIALIZED (
        SELECT
           CASE WHEN q.q# IS NOT NULL THEN ln(1 + greatest(p_documents - n# + 0.5, 0.5) / (n# + 0.5)) END AS r#,
           h.mean_length
        FROM holding h CROSS JOIN q
    ), asked AS MATERIALIZED (
        SELECT nullif(
        coalesce(h.r#, 0) +
        0, 0) AS weight,
        CASE WHEN q.name# > 0 THEN coalesce(h.r#, 0) ELSE 0 END +
        0 AS named
        FROM rarity h CROSS JOIN q
    ), scored AS MATERIALIZED (
        SELECT f.memory_id, f.session_id, f.seq, f.part, f.share * (
        coalesce(h.r# * f.t# / (f.t# + f.damping), 0) +
        0) AS score, (
        CASE WHEN f.t# > 0 THEN h.r# ELSE 0 END +
        0) / a.weight AS coverage, (
        CASE WHEN q.name# > 0 AND f.t# > 0 THEN h.r# * CASE WHEN f.missing & q.name# = 0 THEN 1 ELSE 0.5::float8 END ELSE 0 END +
        0) / a.weight AS names
        FROM rarity h CROSS JOIN asked a CROSS JOIN q CROSS JOIN LATERAL (
            -- ts_rank divides by 1.64…, once per scope.
            SELECT f.*, r.saturation * (1 - r.length_share + r.length_share * f.length / h.mean_length)
                        / (1.64493406685 * cardinality(p_scopes))::float8 AS damping,
                CASE WHEN f.t# > 0 THEN 0 ELSE q.name# END |
                0 AS missing
            FROM found f CROSS JOIN r
            OFFSET 0
        ) AS f
    ), topics AS MATERIALIZED (
        -- How much each conversation is about the question.
        SELECT t.session_id, t.score / greatest(s.last_seq, r.session_events) AS score
        FROM (
            SELECT t.session_id, sum(t.score) AS score FROM (
                SELECT c.session_id, c.seq, max(c.score) AS score FROM scored c
                WHERE c.session_id IS NOT NULL GROUP BY c.session_id, c.seq
            ) AS t
            GROUP BY t.session_id
        ) AS t
        CROSS JOIN r
        CROSS JOIN LATERAL (SELECT n.last_seq FROM slowwave.sessions n WHERE n.id = t.session_id OFFSET 0) AS s
    ), worded AS MATERIALIZED (
        SELECT c.*, r.session * coalesce(t.score, c.score / r.session_events) AS session
        FROM (
            SELECT c.* FROM scored c WHERE c.score > 0
            ORDER BY c.score DESC, c.memory_id DESC NULLS LAST, c.session_id DESC, c.seq DESC, c.part
            LIMIT 300
        ) AS c
        CROSS JOIN r
        LEFT JOIN topics t ON t.session_id = coalesce(c.session_id, (
            SELECT x.session_id FROM slowwave.memory_sources x WHERE x.memory_id = c.memory_id
            ORDER BY x.session_id, x.seq LIMIT 1))
    ), near AS MATERIALIZED (
        SELECT k.kind, n.*
        FROM unnest(CASE WHEN v_space_id IS NULL THEN '{}' WHEN p_events THEN '{memory,passage}' ELSE '{memory}'
                    END::text[]) AS k (kind)
        CROSS JOIN LATERAL slowwave.nearest_vectors(k.kind, v_space_id, v_dimension, p_scopes, p_question, 100) AS n
    ), spread AS MATERIALIZED (
        SELECT v.mean, greatest(sqrt(greatest(v.square - v.mean * v.mean, 0)), r.least_deviation) AS deviation,
               w.deviation AS words
        FROM r CROSS JOIN (
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
    ), candidates AS (
        SELECT c.memory_id, c.session_id, c.seq, c.part, max(c.score) AS score, max(c.session) AS session,
               max(c.coverage) AS coverage, max(c.names) AS names, max(c.cosine) AS cosine, row_number() OVER () AS place
        FROM (
            SELECT w.memory_id, w.session_id, w.seq, w.part, w.score, w.session, w.coverage, w.names,
                   NULL::float8 AS cosine
            FROM worded w
            UNION ALL
            SELECT n.memory_id, n.session_id, n.seq, n.part, NULL, NULL, NULL, NULL, n.cosine FROM near n
        ) AS c
        GROUP BY c.memory_id, c.session_id, c.seq, c.part
        -- Any two texts can have a smaller cosine than this.
        HAVING max(c.score) IS NOT NULL OR max(c.cosine) >= (SELECT r.least_cosine FROM r)
    ), unknown AS MATERIALIZED (
        SELECT array_agg(c.place) AS places, array_agg(c.memory_id) AS memory_ids,
               array_agg(c.session_id) AS session_ids, array_agg(c.seq) AS seqs, array_agg(c.part) AS parts
        FROM candidates c WHERE c.cosine IS NULL AND v_space_id IS NOT NULL
    ), compared AS MATERIALIZED (
        SELECT c.memory_id, c.session_id, c.seq, c.part, c.score, c.session, c.coverage, c.names,
               coalesce(c.cosine, k.cosine) AS cosine
        FROM candidates c
        LEFT JOIN (
            SELECT u.places[k.place] AS place, k.cosine FROM unknown u
            CROSS JOIN LATERAL slowwave.stored_cosines(
                v_space_id, p_scopes, p_question, u.memory_ids, u.session_ids, u.seqs, u.parts) AS k
        ) AS k ON k.place = c.place
    ), weighed AS MATERIALIZED (
        SELECT c.memory_id, c.session_id, c.seq, c.part, c.coverage, c.names, c.cosine,
               coalesce(c.score / s.words, 0) AS words,
               coalesce(c.session / s.words, t.score * r.session / s.words, 0) AS session,
               r.vector * CASE
                   -- The word score of a memory that has ended is smaller already.
                   WHEN m.valid_to <= now() OR m.superseded_by IS NOT NULL OR m.status = 'review'
                       THEN least(z.z, z.z * r.ended)
                   ELSE z.z END AS vector,
               (p_from IS NOT NULL OR p_to IS NOT NULL)
                         AND d.at BETWEEN coalesce(p_from, '-infinity') AND coalesce(p_to, 'infinity') AS inside,
               d.at,
               coalesce(m.use_gain, 0) * r.use AS use
        FROM compared c
        CROSS JOIN spread s CROSS JOIN r
        CROSS JOIN LATERAL (SELECT coalesce((c.cosine - s.mean) / s.deviation, 0) AS z) AS z
        -- By key, one after the other: a join of whole tables would read all memories (OFFSET 0 keeps it apart).
        LEFT JOIN LATERAL (
            SELECT * FROM slowwave.memories n WHERE n.id = c.memory_id OFFSET 0) AS m ON true
        CROSS JOIN LATERAL (
            SELECT CASE WHEN p_from IS NOT NULL OR p_to IS NOT NULL OR r.recency > 0 THEN
                coalesce(m.valid_from, (SELECT e.happened_at FROM slowwave.events e
                                        WHERE e.session_id = c.session_id AND e.seq = c.seq)) END AS at) AS d
        LEFT JOIN topics t ON t.session_id = c.session_id
        -- A second scope check (I8). It also drops memories that were archived after their vector was made.
        WHERE c.seq IS NOT NULL OR m.scope_id = ANY (p_scopes)
            AND (m.status IN ('inbox', 'episode', 'active') OR p_review AND m.status = 'review')
    ), placed AS (
        -- A memory has the place of its first source.
        SELECT w.*, coalesce(w.session_id, x.session_id) AS said_in, coalesce(w.seq, x.seq) AS said_at,
               w.words + w.session + w.vector AS own
        FROM weighed w
        LEFT JOIN LATERAL (
            SELECT x.session_id, x.seq FROM slowwave.memory_sources x WHERE x.memory_id = w.memory_id
            ORDER BY x.session_id, x.seq LIMIT 1) AS x ON true
    ), supported AS MATERIALIZED (
        -- Only candidates support each other, so this reads no further document. An event that ranks behind its memory
        -- gains nothing: the memory stays the better form of the statement.
        SELECT p.memory_id, p.session_id, p.seq, p.part, p.coverage, p.names, p.cosine, p.session, p.inside, p.at, p.use,
               p.words + g.share * coalesce(p.told_words, 0) AS words,
               p.vector + g.share * coalesce(p.told_vector, 0) + coalesce(r.turns_before * p.vector_before, 0) AS vector
        FROM (
            SELECT p.*,
                   max(p.own) FILTER (WHERE p.memory_id IS NOT NULL) OVER here AS told,
                   max(p.words) FILTER (WHERE p.memory_id IS NOT NULL) OVER here AS told_words,
                   max(p.vector) FILTER (WHERE p.memory_id IS NOT NULL) OVER here AS told_vector,
                   max(p.vector) FILTER (WHERE p.memory_id IS NULL) OVER before AS vector_before
            FROM placed p
            WINDOW here AS (PARTITION BY p.said_in ORDER BY p.said_at RANGE BETWEEN CURRENT ROW AND CURRENT ROW),
                   before AS (PARTITION BY p.said_in ORDER BY p.said_at RANGE BETWEEN 2 PRECEDING AND 1 PRECEDING)
        ) AS p
        CROSS JOIN r
        CROSS JOIN LATERAL (
            SELECT CASE WHEN p.memory_id IS NULL AND p.own >= p.told THEN coalesce(r.remembered, 0) ELSE 0 END AS share
        ) AS g
    ), summed AS MATERIALIZED (
        -- Sums of equal numbers in another order differ in their last digits.
        SELECT w.*, round((w.words + w.session + w.vector + i.recency + i."interval" + i.use) * 1e9) / 1e9 AS score,
               i.recency, i."interval"
        FROM supported w CROSS JOIN r
        CROSS JOIN (
            SELECT max(m.words + m.session + m.vector) AS best, max(m.at) AS newest FROM supported m) AS m
        CROSS JOIN LATERAL (
            SELECT coalesce(
                       greatest(w.words + w.session + w.vector, 0) * r.recency
                           / (1 + extract(epoch FROM m.newest - w.at) / 86400 / r.recency_days), 0) AS recency,
                   CASE WHEN w.inside THEN r."interval" * greatest(m.best, 0) ELSE 0 END AS "interval",
                   w.use * greatest(m.best, 0) AS use) AS i
    ), spaced AS (
        SELECT s.*, s.score - (1 - r.diversity ^ (row_number() OVER (
            PARTITION BY coalesce(s.memory_id::text, s.session_id || '#' || s.seq) ORDER BY s.score DESC, s.part) - 1
            )) * abs(s.score) AS spaced
        FROM summed s CROSS JOIN r
    ), best AS MATERIALIZED (
        SELECT s.* FROM spaced s
        ORDER BY s.spaced DESC
        -- Ids follow the order of flushes. Ties are cut below, by what the documents say.
        FETCH FIRST p_limit ROWS WITH TIES
    )
    SELECT u.*, a.named / a.weight FROM (
        SELECT b.spaced, m.id::text, NULL::bigint, NULL::bigint, NULL::integer, NULL::integer, NULL::integer, m.content,
               m.status, m.valid_from, m.valid_to, m.scope_id, m.type, NULL::text, m.superseded_by::text,
               coalesce((
                   SELECT jsonb_agg(jsonb_build_array(x.session_id, s.name, x.seq) ORDER BY s.id, x.seq)
                   FROM slowwave.memory_sources x
                   JOIN slowwave.sessions s ON s.id = x.session_id
                   WHERE x.memory_id = m.id
               ), '[]'), b.words, b.session, b.vector, b."interval", b.recency, b.coverage, b.cosine, b.names
        FROM best b
        CROSS JOIN LATERAL (SELECT * FROM slowwave.memories n WHERE n.id = b.memory_id OFFSET 0) AS m
        UNION ALL
        SELECT b.spaced, s.name || '#' || e.seq, e.session_id, e.seq, b.part, p.begins, p.ends,
               CASE WHEN p.ends IS NULL THEN coalesce(p.redacted, e.content)
                    ELSE substr(coalesce(o.redacted, p.redacted, e.content), p.begins + 1, p.ends - p.begins) END,
               CASE WHEN e.seq > s.processed_until THEN 'pending' ELSE 'processed' END, e.happened_at, NULL, s.scope_id,
               e.kind, coalesce(e.name, e.role), NULL, jsonb_build_array(jsonb_build_array(s.id, s.name, e.seq)),
               b.words, b.session, b.vector, b."interval", b.recency, b.coverage, b.cosine, b.names
        FROM best b
        JOIN slowwave.events e ON e.session_id = b.session_id AND e.seq = b.seq
        JOIN slowwave.sessions s ON s.id = e.session_id AND s.scope_id = ANY (p_scopes)
        LEFT JOIN slowwave.passages p ON p.session_id = b.session_id AND p.seq = b.seq AND p.part = b.part
        LEFT JOIN slowwave.passages o ON o.session_id = b.session_id AND o.seq = b.seq AND o.part = 0 AND b.part > 0
    ) AS u (score, id, session_id, seq, part, begins, ends, content, status, valid_from, valid_to, scope_id, type, speaker,
            superseded_by, sources, words, session, vector, "interval", recency, coverage, cosine, names)
    CROSS JOIN asked a
    -- Ties have the same order wherever the same is stored: memories first, then the newest.
    ORDER BY u.score DESC, u.seq IS NOT NULL, u.valid_from DESC, u.content, u.id DESC, u.part
    LIMIT p_limit;
END
$$;
