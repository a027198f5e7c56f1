-- Scopes that have grown since their words were counted. Growth is read off the watermarks of their sessions: exact, and
-- a flush has no counter to keep.
SELECT k.id
FROM slowwave.scopes k
JOIN (
    SELECT s.scope_id, sum(s.processed_until) AS events FROM slowwave.sessions s GROUP BY s.scope_id
) AS flushed ON flushed.scope_id = k.id
WHERE flushed.events >= :count_from AND (k.counted_at IS NULL OR flushed.events >= k.counted_events * :growth + :least)
ORDER BY flushed.events / greatest(k.counted_events, 1) DESC, k.id
LIMIT :limit
