-- working_memory_stats: count all items ever noted in a scope by outcome, and sum up its consolidation cycles.
--
-- The items add up: noted = open + consolidated + duplicates + expired + failed. A run that was undone no longer
-- counts.
CREATE OR REPLACE FUNCTION slowwave.working_memory_stats(
    p_tenant text, p_scope_kind text, p_scope_name text, p_now timestamptz DEFAULT NULL,
    OUT noted bigint, OUT open bigint, OUT marked bigint, OUT consolidated bigint, OUT duplicates bigint,
    OUT expired bigint, OUT failed bigint,
    OUT running boolean, OUT runs bigint, OUT failed_runs bigint, OUT last_run_at timestamptz, OUT last_error text,
    OUT persisted bigint, OUT links bigint, OUT triples bigint, OUT duration_ms bigint, OUT last_duration_ms bigint
)
LANGUAGE sql STABLE
AS $$
    WITH scope AS (
        SELECT k.id FROM slowwave.scopes k
        WHERE k.tenant = p_tenant AND k.kind = p_scope_kind AND k.name = p_scope_name
    ), items AS (
        SELECT count(*) AS noted,
               count(*) FILTER (WHERE w.outcome IS NULL) AS open,
               count(*) FILTER (WHERE w.outcome IS NULL AND w.marked) AS marked,
               count(*) FILTER (WHERE w.outcome = 'consolidated') AS consolidated,
               count(*) FILTER (WHERE w.outcome = 'duplicate') AS duplicates,
               count(*) FILTER (WHERE w.outcome = 'expired') AS expired,
               count(*) FILTER (WHERE w.outcome = 'failed') AS failed
        FROM slowwave.working_memory w JOIN scope ON scope.id = w.scope_id
    ), cycles AS (
        SELECT r.*, r.status = 'completed' AS done
        FROM slowwave.maintenance_runs r JOIN scope ON scope.id = r.scope_id
        WHERE r.kind = 'working'
    ), sums AS (
        SELECT coalesce(bool_or(c.status = 'running' AND c.lease_until > coalesce(p_now, clock_timestamp())), false)
                   AS running,
               count(*) FILTER (WHERE c.done) AS runs,
               count(*) FILTER (WHERE c.status = 'failed') AS failed_runs,
               coalesce(sum((c.stats ->> 'persisted')::bigint) FILTER (WHERE c.done), 0) AS persisted,
               coalesce(sum((c.stats ->> 'links')::bigint) FILTER (WHERE c.done), 0) AS links,
               coalesce(sum((c.stats ->> 'triples')::bigint) FILTER (WHERE c.done), 0) AS triples,
               coalesce(sum((c.stats ->> 'duration_ms')::bigint) FILTER (WHERE c.done), 0) AS duration_ms
        FROM cycles c
    ), latest AS (
        SELECT c.completed_at, c.error, (c.stats ->> 'duration_ms')::bigint AS duration_ms
        FROM cycles c
        WHERE c.status IN ('completed', 'failed')
        ORDER BY c.id DESC
        LIMIT 1
    )
    SELECT i.noted, i.open, i.marked, i.consolidated, i.duplicates, i.expired, i.failed,
           s.running, s.runs, s.failed_runs, l.completed_at, l.error,
           s.persisted::bigint, s.links::bigint, s.triples::bigint, s.duration_ms::bigint, l.duration_ms
    FROM items i CROSS JOIN sums s LEFT JOIN latest l ON true
$$;
