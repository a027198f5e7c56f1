"""Count the sessions that wait, their waiting times, and the sessions without a valid reason to wait."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, Subquery, and_, func, select

from slowwave.settings import AutoFlush
from slowwave_server.domain.waiting import SILENT_SWEEPS
from slowwave_server.models import Agent, Session
from slowwave_server.services.reports.metrics import COUNTED

FAILING = 3
"""A session whose last so many flushes failed, and that backs off, does not get well by itself in a moment."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """Figures of all tenants at one moment.

    waiting_oldest_seconds: the age of the oldest unread event of sessions that do not back off. dirty_limit_seconds:
    None if automatic flushing is off, because no session can then be late.
    """

    sessions_dirty: int
    events_waiting: int
    dirty_oldest_seconds: float
    waiting_oldest_seconds: float
    dirty_limit_seconds: float | None
    sessions_overdue: int
    overdue_oldest_seconds: float
    sessions_timeless: int
    sessions_backing_off: int
    sessions_failing: int


def read_sessions(connection: Connection, rules: AutoFlush, *, now: datetime) -> Sessions:
    """Read the figures. Counts the COUNTED longest waiting sessions by the index of dirty sessions."""
    dirty = _dirty(now)
    overdue = dirty.c.flush_due_at <= now - timedelta(seconds=SILENT_SWEEPS * rules.flush_interval_seconds)
    row = connection.execute(
        select(
            func.count().label("dirty"),
            func.coalesce(func.sum(dirty.c.events), 0).label("events"),
            func.min(dirty.c.dirty_since).label("oldest"),
            func.min(dirty.c.dirty_since).filter(~dirty.c.backs_off).label("waiting_oldest"),
            func.count().filter(overdue).label("overdue"),
            func.min(dirty.c.flush_due_at).filter(overdue).label("first_due"),
            func.count().filter(dirty.c.flush_due_at.is_(None)).label("timeless"),
            func.count().filter(dirty.c.backs_off).label("backing_off"),
            func.count().filter(dirty.c.fails).label("failing"),
        )
    ).one()
    return Sessions(
        sessions_dirty=row.dirty,
        events_waiting=int(row.events),
        dirty_oldest_seconds=age(row.oldest, now),
        waiting_oldest_seconds=age(row.waiting_oldest, now),
        dirty_limit_seconds=rules.max_dirty_age_seconds if rules.enabled else None,
        sessions_overdue=row.overdue,
        overdue_oldest_seconds=age(row.first_due, now),
        sessions_timeless=row.timeless,
        sessions_backing_off=row.backing_off,
        sessions_failing=row.failing,
    )


def _dirty(now: datetime) -> Subquery:
    backs_off = and_(Session.not_before.is_not(None), Session.not_before > now)
    return (
        select(
            Session.dirty_since,
            Session.flush_due_at,
            (Session.last_seq - Session.processed_until).label("events"),
            backs_off.label("backs_off"),
            and_(backs_off, Session.failures >= FAILING).label("fails"),
        )
        # Exclude the few deleted agents instead of looking up all others, so that the index keeps its order.
        .where(
            Session.dirty_since.is_not(None),
            Session.agent_id.not_in(select(Agent.id).where(Agent.deleted_at.is_not(None))),
        )
        .order_by(Session.dirty_since)
        .limit(COUNTED)
        .subquery()
    )


def age(moment: datetime | None, now: datetime) -> float:
    """Return the seconds since a time; 0 for None and for a future time."""
    return 0.0 if moment is None else max(0.0, (now - moment).total_seconds())
