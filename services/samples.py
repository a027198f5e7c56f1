"""Store the figures of each tenant over time, for charts: one row per minute, after two days one row per hour, for 90
days.

A sample counts the events since the previous sample, so that a worker's pause loses nothing (up to MOST_SECONDS). If
two workers write a sample at once, only one row is stored.
"""

from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, Engine, text

MINUTES_KEPT = timedelta(days=2)
HOURS_KEPT = timedelta(days=90)
MOST_SECONDS = 3600
"""No sample counts what happened longer ago."""
TENANTS = 10_000
"""The largest number of tenants with samples; of more tenants, the first by name."""
RUNS_READ = 1_000
"""The largest number of runs, newest first, that are searched for decisions."""

_LAST = text("SELECT max(s.taken_at) FROM slowwave.status_samples s WHERE s.taken_at > :earliest AND NOT s.hourly")
_TAKE = text(
    # Go from tenant to tenant by the key of agents, without reading all agents.
    "WITH RECURSIVE known AS ("
    " (SELECT a.tenant FROM slowwave.agents a ORDER BY a.tenant LIMIT 1)"
    " UNION ALL SELECT (SELECT a.tenant FROM slowwave.agents a WHERE a.tenant > k.tenant ORDER BY a.tenant LIMIT 1)"
    "  FROM known k WHERE k.tenant IS NOT NULL),"
    " tenants AS (SELECT tenant FROM known WHERE tenant IS NOT NULL LIMIT :tenants),"
    " waiting AS (SELECT a.tenant, count(*) AS sessions, sum(s.last_seq - s.processed_until) AS events"
    "  FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
    "  WHERE s.dirty_since IS NOT NULL AND a.deleted_at IS NULL GROUP BY a.tenant),"
    " flushed AS (SELECT a.tenant, sum(f.to_seq - f.from_seq + 1) AS events,"
    "  count(*) FILTER (WHERE f.outcome = 'quarantined') AS quarantined,"
    "  percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY"
    "   greatest(0, extract(epoch FROM f.committed_at - f.oldest_recorded_at))) AS lags"
    "  FROM slowwave.flushes f JOIN slowwave.sessions s ON s.id = f.session_id"
    "  JOIN slowwave.agents a ON a.id = s.agent_id"
    "  WHERE f.committed_at > :since AND f.committed_at <= :now GROUP BY a.tenant),"
    " asked AS (SELECT k.tenant, count(*) AS questions FROM slowwave.review_items q"
    "  JOIN slowwave.scopes k ON k.id = q.scope_id WHERE q.state = 'open' GROUP BY k.tenant),"
    " contradictions AS (SELECT k.tenant, count(*) AS open FROM slowwave.memory_conflicts c"
    "  JOIN slowwave.scopes k ON k.id = c.scope_id WHERE c.status = 'open'"
    "  AND NOT EXISTS (SELECT FROM slowwave.review_items q WHERE q.state = 'open' AND q.conflict_id = c.id)"
    "  AND NOT EXISTS (SELECT FROM slowwave.review_items q WHERE q.state = 'open' AND q.memory_id = c.memory_id)"
    "  AND NOT EXISTS (SELECT FROM slowwave.review_items q WHERE q.state = 'open'"
    "   AND q.memory_id = c.conflicting_memory_id) GROUP BY k.tenant),"
    " runs AS (SELECT r.scope_id, r.stats FROM ("
    "  SELECT * FROM slowwave.maintenance_runs ORDER BY id DESC LIMIT :runs) r"
    "  WHERE r.kind = 'review' AND r.completed_at > :since AND r.completed_at <= :now),"
    " decided AS (SELECT k.tenant, sum(coalesce((r.stats ->> 'decided')::bigint, 1)) AS decisions FROM runs r"
    "  JOIN slowwave.scopes k ON k.id = r.scope_id GROUP BY k.tenant),"
    " letters AS (SELECT d.tenant, count(*) AS came FROM slowwave.dead_letters d"
    "  WHERE d.state = 'open' AND d.created_at > :since AND d.created_at <= :now GROUP BY d.tenant)"
    " INSERT INTO slowwave.status_samples (tenant, taken_at, seconds, sessions_waiting, events_waiting, inbox_open,"
    "  lag_p50_seconds, lag_p95_seconds, events, decisions, tokens, failures)"
    " SELECT t.tenant, :now, :seconds, coalesce(w.sessions, 0), coalesce(w.events, 0),"
    "  coalesce(q.questions, 0) + coalesce(c.open, 0), f.lags[1], f.lags[2], coalesce(f.events, 0),"
    "  coalesce(d.decisions, 0), coalesce(m.tokens, 0),"
    "  coalesce(f.quarantined, 0) + coalesce(l.came, 0) + coalesce(m.failures, 0)"
    " FROM tenants t LEFT JOIN waiting w USING (tenant) LEFT JOIN flushed f USING (tenant)"
    " LEFT JOIN asked q USING (tenant) LEFT JOIN contradictions c USING (tenant)"
    " LEFT JOIN decided d USING (tenant) LEFT JOIN letters l USING (tenant)"
    " LEFT JOIN LATERAL (SELECT sum(x.tokens_settled) AS tokens,"
    "  count(*) FILTER (WHERE x.outcome <> 'answered') AS failures FROM slowwave.llm_calls x"
    "  WHERE x.tenant = t.tenant AND x.reserved_at > CAST(:since AS timestamptz) - interval '1 hour'"
    "  AND x.settled_at > :since AND x.settled_at <= :now) m ON true"
    " ON CONFLICT (tenant, taken_at) DO NOTHING"
)
_MERGE = text(
    "WITH gone AS (DELETE FROM slowwave.status_samples WHERE NOT hourly AND taken_at <= :before RETURNING *)"
    " INSERT INTO slowwave.status_samples"
    " SELECT g.tenant, date_trunc('hour', g.taken_at - interval '1 microsecond') + interval '1 hour', true,"
    "  sum(g.seconds), max(g.sessions_waiting), max(g.events_waiting), max(g.inbox_open), max(g.lag_p50_seconds),"
    "  max(g.lag_p95_seconds), sum(g.events), sum(g.decisions), sum(g.tokens), sum(g.failures)"
    " FROM gone g GROUP BY 1, 2 ON CONFLICT (tenant, taken_at) DO NOTHING"
)
_REMOVE = text("DELETE FROM slowwave.status_samples WHERE taken_at <= :before")


def take_samples(engine: Engine, now: datetime) -> int:
    """Write the sample of the current minute for every tenant. Return the number of new rows."""
    minute = now.astimezone(UTC).replace(second=0, microsecond=0)
    with engine.begin() as connection:
        written = _take(connection, minute)
        connection.execute(_MERGE, {"before": (minute - MINUTES_KEPT).replace(minute=0)})
        connection.execute(_REMOVE, {"before": minute - HOURS_KEPT})
    return written


def _take(connection: Connection, minute: datetime) -> int:
    earliest = minute - timedelta(seconds=MOST_SECONDS)
    last = connection.execute(_LAST, {"earliest": earliest}).scalar_one()
    since = minute - timedelta(seconds=60) if last is None else last
    if since >= minute:
        return 0
    seconds = int((minute - since).total_seconds())
    values = {"now": minute, "since": since, "seconds": seconds, "tenants": TENANTS, "runs": RUNS_READ}
    return connection.execute(_TAKE, values).rowcount
