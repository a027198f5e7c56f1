-- Count a scope: its documents, their mean length, and every lexeme that at least :common_from of them hold. Of a scope
-- with more than :sample documents every nth is counted, and the counts are multiplied.
WITH locked AS MATERIALIZED (
    -- Two counts of one scope would insert the same terms, and one that waited for a forget would count what is gone: a
    -- scope that somebody holds is left to the next look. Who only refers to it is in nobody's way.
    SELECT k.id FROM slowwave.scopes k WHERE k.id = :scope FOR NO KEY UPDATE SKIP LOCKED
), totals AS MATERIALIZED (
    SELECT sum(d.documents)::bigint AS documents, sum(d.lexemes) / greatest(sum(d.documents), 1) AS mean_length,
           greatest(1, ceil(sum(d.documents) / :sample))::bigint AS step
    FROM (
        SELECT count(*) AS documents, coalesce(sum(length(p.search)), 0)::float8 AS lexemes
        FROM slowwave.passages p JOIN locked l ON p.scope_id = l.id
        UNION ALL
        SELECT count(*), coalesce(sum(length(m.search)), 0)::float8
        FROM slowwave.memories m JOIN locked l ON m.scope_id = l.id AND m.status IN ('inbox', 'episode', 'active')
    ) AS d
), common AS MATERIALIZED (
    -- ts_stat takes a statement as text: format() puts numbers into it and nothing else.
    SELECT substr(w.word, length(l.id::text) + 2) AS term, w.ndoc * t.step AS documents
    FROM locked l CROSS JOIN totals t
    CROSS JOIN LATERAL ts_stat(format(
        $words$
            SELECT search FROM slowwave.passages WHERE scope_id = %1$s AND (session_id + seq) %% %2$s = 0
            UNION ALL
            SELECT search FROM slowwave.memories
            WHERE scope_id = %1$s AND status IN ('inbox', 'episode', 'active')
              AND uuid_hash_extended(id, 0) %% %2$s = 0
        $words$, l.id, t.step)) AS w
    WHERE w.ndoc * t.step >= :common_from
), gone AS (
    DELETE FROM slowwave.common_terms c
    USING locked l
    WHERE c.scope_id = l.id AND NOT EXISTS (SELECT FROM common n WHERE n.term = c.term)
), kept AS (
    INSERT INTO slowwave.common_terms AS c (scope_id, term, documents)
    SELECT l.id, n.term, n.documents FROM common n CROSS JOIN locked l
    ON CONFLICT (scope_id, term) DO UPDATE SET documents = excluded.documents
    WHERE c.documents <> excluded.documents
), noted AS (
    UPDATE slowwave.scopes k SET
        counted_documents = t.documents,
        counted_mean_length = t.mean_length,
        counted_events = k.flushed_events,
        counted_at = :now
    FROM totals t, locked l
    WHERE k.id = l.id
)
SELECT count(*) FROM common
