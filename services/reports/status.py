"""Report the status of one tenant: backlog, latency from a turn to its memory, failures."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from redis.exceptions import RedisError

from slowwave.coordination.queue_depths import QueueDepths
from slowwave_server.domain.languages import LANGUAGES
from slowwave_server.models.driver import Reads, read_rows
from slowwave_server.services.reports.dead_letters import count_open
from slowwave_server.services.reports.quarantine import count_quarantined
from slowwave_server.services.reports.unkept import read_unkept

FLUSHES_READ = 50_000
"""The largest number of flushes of the last hour, newest first, that are read for the lag."""
DIRTY_READ = 1_000
"""The largest number of sessions with unprocessed events that are counted. It bounds the cost of the report."""
UNRULED_READ = 50_000
"""The largest number of events in languages without rules that are counted."""
OUTCOMES = ("stored", "no_reply", "quarantined")
FALLBACKS = ("budget", "failed")
SHARES = {"p50_seconds": 0.5, "p95_seconds": 0.95}

_DIRTY = (
    "SELECT count(*) AS sessions, coalesce(sum(o.events), 0)::bigint AS events, min(o.dirty_since) AS oldest,"
    " count(*) FILTER (WHERE o.backs_off) AS backing_off, count(*) FILTER (WHERE o.due) AS overdue"
    " FROM (SELECT s.dirty_since, s.last_seq - s.processed_until AS events, s.not_before > %(now)s AS backs_off,"
    " s.flush_due_at <= %(now)s AS due FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE a.tenant = %(tenant)s AND s.dirty_since IS NOT NULL ORDER BY s.dirty_since LIMIT %(most)s) AS o"
)
# Count by scope first, and look up each scope by key: the planner assumes that a third of all rows wait, and would
# read all scopes.
_WAITING = (
    "SELECT w.backend, sum(w.waiting)::bigint AS waiting FROM (SELECT backend, scope_id, count(*) AS waiting"
    " FROM slowwave.outbox WHERE delivered < changes GROUP BY backend, scope_id OFFSET 0) AS w"
    " JOIN LATERAL (SELECT k.tenant FROM slowwave.scopes k WHERE k.id = w.scope_id OFFSET 0) AS own"
    " ON own.tenant = %(tenant)s GROUP BY w.backend"
)
_BACKENDS = "SELECT name FROM slowwave.memory_backends"
# The index passages_language_idx serves this, and has no entries for English events.
_LANGUAGES = (
    "SELECT e.language, count(*) AS events FROM (SELECT p.language FROM slowwave.passages p"
    " JOIN slowwave.scopes k ON k.id = p.scope_id WHERE k.tenant = %(tenant)s AND p.language <> 'en'"
    " AND p.language <> ALL(%(ruled)s) LIMIT %(most)s) AS e GROUP BY e.language ORDER BY events DESC, e.language"
)
_FIGURES = ", ".join(
    [
        *(f"count(*) FILTER (WHERE r.outcome = '{outcome}') AS {outcome}" for outcome in OUTCOMES),
        *(f"count(*) FILTER (WHERE r.fallback = '{fallback}') AS {fallback}" for fallback in FALLBACKS),
        *(f"percentile_cont({share}) WITHIN GROUP (ORDER BY r.lag) AS {name}" for name, share in SHARES.items()),
    ]
)
_LAST_HOUR = (
    f"SELECT {_FIGURES} FROM (SELECT f.outcome, f.fallback, f.committed_at - f.oldest_recorded_at AS lag"
    " FROM slowwave.flushes f JOIN slowwave.sessions s ON s.id = f.session_id"
    " JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.tenant = %(tenant)s AND f.committed_at > %(since)s"
    " ORDER BY f.committed_at DESC LIMIT %(most)s) AS r"
)


@dataclass(frozen=True, slots=True)
class Lag:
    """Seconds from the arrival of an event to the commit of its memories, in flushes of the last hour."""

    p50_seconds: float | None
    p95_seconds: float | None


@dataclass(frozen=True, slots=True)
class Status:
    """The present status of one tenant; `queues` counts the messages of all tenants.

    queues: the number of messages in each queue; None if the broker can't be reached. flushes: the number of flushes in
    the last hour, by outcome. left_to_rules: the number of flushes that the rules did instead of the model, by reason
    ("budget": a cap was reached, "failed": the model gave no usable answer). failed_notes, failed_days: the numbers of
    notes and summaries of days that raised an error and are retried. backends: the number of memories that wait for a
    delivery to files or mem0. without_rules: the number of flushed events by language, for languages without extraction
    rules; at most UNRULED_READ are counted. more_dirty: True if there are more sessions with unprocessed events than
    were counted; the counts of events_waiting, backing_off and overdue then cover only the longest waiting sessions.
    """

    tenant: str
    queues: dict[str, int] | None
    dirty_sessions: int
    more_dirty: bool
    events_waiting: int
    oldest_dirty_seconds: float | None
    backing_off: int
    overdue: int
    flushes: dict[str, int]
    left_to_rules: dict[str, int]
    lag: Lag
    quarantined: int
    dead_letters: int
    failed_notes: int
    failed_days: int
    backends: dict[str, int]
    without_rules: dict[str, int]


def read_status(connection: Reads, queue: QueueDepths, tenant: str, now: datetime) -> Status:
    """Read each figure by one bounded query; if the broker does not answer, the result says so."""
    dirty = _dirty(connection, tenant, now)
    outcomes, fallbacks, lag = _last_hour(connection, tenant, now)
    unkept = read_unkept(connection, now, tenant)
    return Status(
        tenant=tenant,
        queues=_depths(queue),
        dirty_sessions=dirty["sessions"],
        more_dirty=dirty["sessions"] >= DIRTY_READ,
        events_waiting=dirty["events"],
        oldest_dirty_seconds=None if dirty["oldest"] is None else max(0.0, (now - dirty["oldest"]).total_seconds()),
        backing_off=dirty["backing_off"],
        overdue=dirty["overdue"],
        flushes=outcomes,
        left_to_rules=fallbacks,
        lag=lag,
        quarantined=count_quarantined(connection, tenant),
        dead_letters=count_open(connection, tenant),
        failed_notes=unkept.notes,
        failed_days=unkept.days,
        backends=_backends(connection, tenant),
        without_rules=_without_rules(connection, tenant),
    )


def _dirty(connection: Reads, tenant: str, now: datetime) -> dict[str, Any]:
    """Count dirty sessions, their events, the oldest event, and the sessions that back off or are due."""
    (row,) = read_rows(connection, _DIRTY, {"tenant": tenant, "now": now, "most": DIRTY_READ})
    return row


def _backends(connection: Reads, tenant: str) -> dict[str, int]:
    """Count the memories that wait for each backend that is fed, or that still has waiting rows."""
    waiting = {row["backend"]: row["waiting"] for row in read_rows(connection, _WAITING, {"tenant": tenant})}
    fed = {row["name"] for row in read_rows(connection, _BACKENDS, {})}
    return {name: waiting.get(name, 0) for name in sorted({*fed, *waiting})}


def _without_rules(connection: Reads, tenant: str) -> dict[str, int]:
    """Count the events in each language without rules, by its name, the largest number first."""
    ruled = [code for code, language in LANGUAGES.items() if language.rules]
    rows = read_rows(connection, _LANGUAGES, {"tenant": tenant, "ruled": ruled, "most": UNRULED_READ})
    return {LANGUAGES[row["language"]].name: row["events"] for row in rows}


def _depths(queue: QueueDepths) -> dict[str, int] | None:
    try:
        return queue.depths()
    except RedisError:
        return None


def _last_hour(connection: Reads, tenant: str, now: datetime) -> tuple[dict[str, int], dict[str, int], Lag]:
    since = now - timedelta(hours=1)
    (figures,) = read_rows(connection, _LAST_HOUR, {"tenant": tenant, "since": since, "most": FLUSHES_READ})
    seconds = {name: None if figures[name] is None else figures[name].total_seconds() for name in SHARES}
    outcomes, fallbacks = ({name: figures[name] for name in names} for names in (OUTCOMES, FALLBACKS))
    return outcomes, fallbacks, Lag(**seconds)
