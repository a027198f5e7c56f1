-- Scopes of a modest size that were flushed within the last hour, have been quiet since, and hold what no count knows.
-- The index on flushed_through has the scopes in the order of their last flushes: the query reads those of an hour.
SELECT k.id
FROM slowwave.scopes k
JOIN slowwave.flushes f ON f.id = k.flushed_through
WHERE k.flushed_through >= (
        SELECT r.id FROM slowwave.flushes r
        WHERE r.committed_at > CAST(:now AS timestamptz) - interval '1 hour'
        ORDER BY r.committed_at
        LIMIT 1)
  AND f.committed_at <= CAST(:now AS timestamptz) - make_interval(secs => :quiet_seconds)
  AND k.counted_at IS NOT NULL AND k.counted_documents <= :most_documents AND k.counted_events <> k.flushed_events
ORDER BY k.id
LIMIT :limit
