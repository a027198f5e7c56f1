"""Report the status of one tenant: backlog, latency from a turn to its memory, failures."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from redis.exceptions import RedisError
from sqlalchemy import Connection, Row, func, literal_column, select

from slowwave.coordination.flush_queue import FlushQueue
from slowwave_server.domain.languages import LANGUAGES
from slowwave_server.models import Agent, Flush, MemoryBackend, OutboxItem, Passage, Scope, Session
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


@dataclass(frozen=True, slots=True)
class Lag:
    """Seconds from the arrival of a window's oldest event to the commit of its memories; None without a flush."""

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


def read_status(connection: Connection, queue: FlushQueue, tenant: str, now: datetime) -> Status:
    """Read each figure by one bounded query; if the broker does not answer, the result says so."""
    dirty = _dirty(connection, tenant, now)
    outcomes, fallbacks, lag = _last_hour(connection, tenant, now)
    unkept = read_unkept(connection, now, tenant)
    return Status(
        tenant=tenant,
        queues=_depths(queue),
        dirty_sessions=dirty.sessions,
        more_dirty=dirty.sessions >= DIRTY_READ,
        events_waiting=int(dirty.events),
        oldest_dirty_seconds=None if dirty.oldest is None else max(0.0, (now - dirty.oldest).total_seconds()),
        backing_off=dirty.backing_off,
        overdue=dirty.overdue,
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


def _dirty(connection: Connection, tenant: str, now: datetime) -> Row[tuple[int, int, datetime | None, int, int]]:
    """Count dirty sessions, their events, the oldest event, and the sessions that back off or are due."""
    oldest = (
        select(
            Session.dirty_since,
            (Session.last_seq - Session.processed_until).label("events"),
            (Session.not_before > now).label("backs_off"),
            (Session.flush_due_at <= now).label("due"),
        )
        .join(Agent, Agent.id == Session.agent_id)
        .where(Agent.tenant == tenant, Session.dirty_since.is_not(None))
        .order_by(Session.dirty_since)
        .limit(DIRTY_READ)
        .subquery()
    )
    query = select(
        func.count().label("sessions"),
        func.coalesce(func.sum(oldest.c.events), 0).label("events"),
        func.min(oldest.c.dirty_since).label("oldest"),
        func.count().filter(oldest.c.backs_off).label("backing_off"),
        func.count().filter(oldest.c.due).label("overdue"),
    )
    return connection.execute(query).one()


def _backends(connection: Connection, tenant: str) -> dict[str, int]:
    """Count the memories that wait for each backend that is fed, or that still has waiting rows."""
    # Count by scope first, and look up each scope by key: the planner assumes that a third of all rows wait, and would
    # read all scopes.
    waits = (
        select(OutboxItem.backend, OutboxItem.scope_id, func.count().label("waiting"))
        .where(OutboxItem.delivered < OutboxItem.changes)
        .group_by(OutboxItem.backend, OutboxItem.scope_id)
        .offset(literal_column("0"))
        .subquery()
    )
    own = select(Scope.tenant).where(Scope.id == waits.c.scope_id).offset(literal_column("0")).lateral()
    query = (
        select(waits.c.backend, func.sum(waits.c.waiting).label("waiting"))
        .join(own, own.c.tenant == tenant)
        .group_by(waits.c.backend)
    )
    waiting = {row.backend: int(row.waiting) for row in connection.execute(query)}
    fed = connection.execute(select(MemoryBackend.name)).scalars().all()
    return {name: waiting.get(name, 0) for name in sorted({*fed, *waiting})}


def _without_rules(connection: Connection, tenant: str) -> dict[str, int]:
    """Count the events in each language without rules, by its name, the largest number first."""
    # Use passages_language_idx, which has no entries for English events.
    read = [code for code, language in LANGUAGES.items() if language.rules]
    events = (
        select(Passage.language)
        .join(Scope, Scope.id == Passage.scope_id)
        .where(Scope.tenant == tenant, Passage.language != literal_column("'en'"), Passage.language.not_in(read))
        .limit(UNRULED_READ)
        .subquery()
    )
    count = func.count().label("count")
    query = select(events.c.language, count).group_by(events.c.language).order_by(count.desc(), events.c.language)
    return {LANGUAGES[language].name: events for language, events in connection.execute(query)}


def _depths(queue: FlushQueue) -> dict[str, int] | None:
    try:
        return queue.depths()
    except RedisError:
        return None


def _last_hour(connection: Connection, tenant: str, now: datetime) -> tuple[dict[str, int], dict[str, int], Lag]:
    recent = (
        select(Flush.outcome, Flush.fallback, (Flush.committed_at - Flush.oldest_recorded_at).label("lag"))
        .join(Session, Session.id == Flush.session_id)
        .join(Agent, Agent.id == Session.agent_id)
        .where(Agent.tenant == tenant, Flush.committed_at > now - timedelta(hours=1))
        .order_by(Flush.committed_at.desc())
        .limit(FLUSHES_READ)
        .subquery()
    )
    query = select(
        *(func.count().filter(recent.c.outcome == outcome).label(outcome) for outcome in OUTCOMES),
        *(func.count().filter(recent.c.fallback == fallback).label(fallback) for fallback in FALLBACKS),
        *(func.percentile_cont(share).within_group(recent.c.lag).label(name) for name, share in SHARES.items()),
    )
    figures = connection.execute(query).mappings().one()
    seconds = {name: None if figures[name] is None else figures[name].total_seconds() for name in SHARES}
    outcomes, fallbacks = ({name: figures[name] for name in names} for names in (OUTCOMES, FALLBACKS))
    return outcomes, fallbacks, Lag(**seconds)
