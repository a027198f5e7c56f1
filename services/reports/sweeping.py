"""Check that work proceeds: every queue has a worker, sweeps run, and due sessions are enqueued."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import ColumnElement, Connection, Select, func, select

from slowwave.coordination.keys import QUEUES
from slowwave.settings import AutoFlush
from slowwave_server.domain.health_limits import BACKLOG_SECONDS
from slowwave_server.domain.spoken_time import duration_words, pluralize
from slowwave_server.domain.waiting import SILENT_SWEEPS
from slowwave_server.models import Agent, Flush, Session
from slowwave_server.services.maintenance.heartbeat import swept_ago
from slowwave_server.services.reports.check import Check, counts_by_tenant, fine, problem, told_by_tenant, unknown
from slowwave_server.services.reports.metrics.sessions import FAILING, read_sessions


def check_sweeps(redis: Redis, rules: AutoFlush) -> Check:
    """Check that beat is alive: every sweep stores its time."""
    if not rules.enabled:
        return fine("sweeps", "automatic flushing is switched off (memory.auto_flush.enabled)")
    try:
        ago = swept_ago(redis)
    except RedisError:
        return unknown("sweeps", "the broker holds their trace, and can't be reached")
    interval = duration_words(rules.flush_interval_seconds)
    if ago is not None and ago <= SILENT_SWEEPS * rules.flush_interval_seconds:
        return fine("sweeps", f"the last was {duration_words(ago)} ago; one comes every {interval}")
    last = "there is no trace of any" if ago is None else f"the last was {duration_words(ago)} ago"
    return problem("sweeps", "sweeps-silent", f"{last}, though one should come every {interval}")


def check_workers(listening: Mapping[str, frozenset[str]] | None) -> Check:
    """Check that every queue has a worker. listening: the queues of each worker; None if the broker does not answer."""
    if listening is None:
        return unknown("workers", "they answer through the broker, and it can't be reached")
    missing = [queue for queue in QUEUES if not any(queue in queues for queues in listening.values())]
    names = ", ".join(sorted(listening))
    if not missing:
        return fine("workers", f"every queue has a listener: {names}")
    who = f"of {names}, none" if names else "no worker answers, so none"
    finding = f"{who} listens to {', '.join(missing)}"
    return problem("workers", "no-worker", finding, f"`slowwave worker --queues {','.join(missing)}`")


def check_stranded(connection: Connection, rules: AutoFlush, *, now: datetime) -> Check:
    """Check for sessions that should have been offered long ago.

    Many overdue sessions are a backlog, not a fault, while flushes are committed: sweeps take due sessions in order.
    """
    if not rules.enabled:
        return fine("stranded", "automatic flushing is switched off, so nothing is due by itself")
    longest = timedelta(seconds=SILENT_SWEEPS * rules.flush_interval_seconds)
    timeless = counts_by_tenant(connection, _dirty(Session.flush_due_at.is_(None)))
    overdue = counts_by_tenant(connection, _dirty(Session.flush_due_at <= now - longest))
    if timeless:
        return problem("stranded", "session-timeless", f"dirty and never due: {told_by_tenant(timeless, 'session')}")
    if not overdue:
        return fine("stranded", f"no session has been due for more than {duration_words(longest.seconds)}")
    finding = f"due for more than {duration_words(longest.seconds)}: {told_by_tenant(overdue, 'session')}"
    if connection.execute(select(Flush.id).where(Flush.committed_at > now - longest).limit(1)).first() is not None:
        return fine("stranded", f"a backlog that is being worked off; {finding}")
    return problem("stranded", "session-overdue", finding)


def check_backlog(connection: Connection, rules: AutoFlush, *, now: datetime) -> Iterator[Check]:
    """Check whether sessions wait too long although they are offered, and whether flushes fail repeatedly."""
    found = read_sessions(connection, rules, now=now)
    dirty = pluralize(found.sessions_dirty, "dirty session")
    waited, limit = duration_words(found.waiting_oldest_seconds), duration_words(rules.max_dirty_age_seconds)
    if rules.enabled and found.waiting_oldest_seconds > rules.max_dirty_age_seconds + BACKLOG_SECONDS:
        yield problem("backlog", "backlog-grows", f"{dirty}; the first has waited for {waited}, {limit} is the most")
    else:
        yield fine("backlog", f"{dirty}; none has waited for too long")
    if found.sessions_failing:
        failing = pluralize(found.sessions_failing, "session")
        yield problem("flushes", "flushes-fail", f"{failing} failed {FAILING} times in a row or more, and back off")
    else:
        yield fine("flushes", "none fails again and again")


def _dirty(condition: ColumnElement[bool]) -> Select[str, int]:
    return (
        select(Agent.tenant, func.count())
        .join(Session, Session.agent_id == Agent.id)
        .where(Session.dirty_since.is_not(None), Agent.deleted_at.is_(None), condition)
    )
