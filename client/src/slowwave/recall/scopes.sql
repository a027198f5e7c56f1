-- The scopes that a reader named and that exist, with their statistics; and the stems of what it asks, with how many
-- documents of these scopes hold each where that is known to be many.
-- A scope that was never counted is small: its documents are counted, no further than a bound.
WITH named AS MATERIALIZED (
    SELECT k.id, k.kind, k.name,
           CASE WHEN k.counted_at IS NOT NULL THEN k.counted_documents ELSE slowwave.count_documents(k.id) END
               AS documents,
           CASE WHEN k.counted_at IS NOT NULL THEN k.counted_mean_length END AS mean_length
    FROM unnest(%(kinds)s::text[], %(names)s::text[]) AS wanted (kind, name)
    JOIN slowwave.scopes k ON k.tenant = %(tenant)s AND k.kind = wanted.kind AND k.name = wanted.name
    -- What a forgotten agent left is on its way out: nobody reads it meanwhile (I10).
    WHERE NOT (k.kind = 'agent' AND EXISTS (
        SELECT FROM slowwave.agents a WHERE a.tenant = k.tenant AND a.name = k.name AND a.deleted_at IS NOT NULL))
)
SELECT (SELECT jsonb_agg(n) FROM named n) AS scopes,
       (SELECT jsonb_agg(jsonb_build_array(w.lexeme, (
                   SELECT sum(c.documents) FROM slowwave.common_terms c
                   WHERE c.term = w.lexeme AND c.scope_id IN (SELECT n.id FROM named n))))
        FROM unnest(to_tsvector('pg_catalog.english', %(question)s)) AS w) AS terms
