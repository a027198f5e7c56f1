-- Scopes that have grown since their words were counted. `grown` is a column that follows from two counts, and has an
-- index of its own.
SELECT k.id
FROM slowwave.scopes k
WHERE k.grown
ORDER BY k.flushed_events::float8 / greatest(k.counted_events, 1) DESC, k.id
LIMIT :limit
