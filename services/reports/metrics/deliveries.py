"""Read rows that wait for delivery to a backend, and runs of another program that wait to be read."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, func, select

from slowwave_server.models import FileState, OutboxItem, SourceRun
from slowwave_server.services.memory_files.backends import registered
from slowwave_server.services.memory_files.outbox import HELD, undelivered
from slowwave_server.services.reports.metrics import COUNTED, By
from slowwave_server.services.reports.metrics.sessions import age

LATE_SECONDS = 60.0
"""Ticks of a source come every few seconds: what is due for longer is read by nobody."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The backlog of a backend: memories (up to COUNTED), the oldest enqueue time, failed rows and their error."""

    waiting: int
    oldest: datetime | None
    failing: int
    error: str | None


@dataclass(frozen=True, slots=True)
class Reading:
    """Runs of another program. failing: the number that could not be read, the first since failing_since; late: the
    number that have been due for too long.
    """

    failing: int
    error: str | None
    failing_since: datetime | None
    late: int
    late_since: datetime | None


@dataclass(frozen=True, slots=True)
class Deliveries:
    """Figures of all tenants."""

    outbox_waiting: By
    outbox_oldest_seconds: By
    outbox_failing: By
    files_held: int
    source_runs_due: int
    source_runs_failing: int


def read_waiting(connection: Connection, backend: str) -> Waiting:
    """Read the backlog; held files do not count as failures."""
    waiting = (
        select(OutboxItem.queued_at, func.nullif(OutboxItem.last_error, HELD).label("error"))
        .where(undelivered(backend))
        .limit(COUNTED)
        .subquery()
    )
    query = select(
        func.count(), func.min(waiting.c.queued_at), func.count(waiting.c.error), func.max(waiting.c.error)
    ).select_from(waiting)
    return Waiting(*connection.execute(query).one())


def read_sources(connection: Connection, *, now: datetime) -> Reading:
    """Read the figures of runs that are due."""
    fails = SourceRun.last_error.is_not(None)
    late = SourceRun.due_at < now - timedelta(seconds=LATE_SECONDS)
    query = select(
        func.count().filter(fails),
        func.max(SourceRun.last_error),
        func.min(SourceRun.asked_at).filter(fails),
        func.count().filter(late),
        func.min(SourceRun.due_at).filter(late),
    ).where(SourceRun.due_at.is_not(None))
    return Reading(*connection.execute(query).one())


def files_held(connection: Connection) -> int:
    """Count the memory files that are held."""
    query = select(func.count()).select_from(FileState).where(FileState.held.is_not(None))
    return connection.execute(query).scalar_one()


def read_deliveries(connection: Connection, *, now: datetime) -> Deliveries:
    """Read the figures of each backend that is fed."""
    waiting: Mapping[str, Waiting] = {name: read_waiting(connection, name) for name in registered(connection)}
    sources = read_sources(connection, now=now)
    return Deliveries(
        outbox_waiting={(name,): found.waiting for name, found in waiting.items()},
        outbox_oldest_seconds={(name,): age(found.oldest, now) for name, found in waiting.items()},
        outbox_failing={(name,): found.failing for name, found in waiting.items()},
        files_held=files_held(connection),
        source_runs_due=sources.late,
        source_runs_failing=sources.failing,
    )
