"""The sweep: enqueue due sessions. It replaces all messages that were lost between Postgres and Redis.

The sweep moves the due time of the sessions that it enqueues (less far for running ones), so the next sweep sees
others. It stops when the queue is long enough: a backlog waits in Postgres, which orders it fairly, not in a list of
messages.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, Engine

from slowwave.coordination.flush_queue import FlushQueue
from slowwave.coordination.keys import NORMAL_QUEUE
from slowwave.coordination.outcomes import Offer, Priority
from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush
from slowwave_server.domain.failures import LONGEST_RETRY_AFTER_SECONDS

_TAKE = "SELECT tenant, agent, session, boosted FROM slowwave.claim_due(%s, %s, %s, %s, %s, %s)"
# Check running sessions in each sweep: if the worker dies, the mark for a rerun is known nowhere else.
_LOOK_AGAIN = """
    WITH running AS (
        SELECT s.id FROM unnest(%s::text[], %s::text[], %s::text[]) AS w (tenant, agent, session)
        JOIN slowwave.agents a ON a.tenant = w.tenant AND a.name = w.agent
        JOIN slowwave.sessions s ON s.agent_id = a.id AND s.name = w.session
        ORDER BY s.id FOR NO KEY UPDATE OF s
    )
    UPDATE slowwave.sessions s SET flush_due_at = %s FROM running r WHERE s.id = r.id AND s.flush_due_at > %s
"""
# No session waits longer than the settings and a back-off allow: a later due time was written while a clock was ahead.
# Sorted by flush_due_at, whose index ends before nearly all rows; sorted by id, the planner might read all sessions.
_COME_BACK = """
    WITH far AS MATERIALIZED (
        SELECT s.id FROM slowwave.sessions s
        WHERE s.flush_due_at > %s AND (s.not_before IS NULL OR s.not_before > %s)
        ORDER BY s.flush_due_at DESC LIMIT %s
    ), stranded AS (
        SELECT s.id FROM slowwave.sessions s
        WHERE s.id = ANY (ARRAY(SELECT f.id FROM far f)) AND s.flush_due_at > %s
        ORDER BY s.id FOR UPDATE SKIP LOCKED
    )
    UPDATE slowwave.sessions s SET flush_due_at = %s, not_before = NULL FROM stranded x WHERE s.id = x.id
"""
_CLOCK_SLACK_SECONDS = 60.0
_REQUEST = "SELECT place, dirty FROM slowwave.request_flush(%s, %s, %s, %s, %s)"
# Sessions whose rows one statement locks.
REQUEST_BATCH = 200
WOKEN_AT_ONCE = 1000
_WAKE = "SELECT slowwave.request_stale_flushes(%s, %s, %s)"


@dataclass(frozen=True, slots=True)
class SweepReport:
    """The result of one sweep. more: a cap ended it; other due sessions may wait for another sweep."""

    taken: int
    enqueued: int
    more: bool


def sweep(engine: Engine, queue: FlushQueue, settings: AutoFlush, now: datetime) -> SweepReport:
    """Run one cycle. Two cycles may run at once: a row that one of them has locked is skipped by the other."""
    room = settings.max_queued - queue.depths()[NORMAL_QUEUE]
    if not settings.enabled or room <= 0:
        return SweepReport(0, 0, more=settings.enabled)
    limit = min(settings.batch.max_sessions_per_cycle, room)
    per_agent = settings.batch.max_sessions_per_agent_per_cycle
    with engine.begin() as connection:
        _bring_back(connection, settings, now)
        waits = (settings.retry_interval_seconds, settings.idle_seconds, settings.max_dirty_age_seconds)
        rows = connection.exec_driver_sql(_TAKE, (limit, per_agent, *waits, now)).all()
    offers = [_offer(row.tenant, row.agent, row.session, boosted=row.boosted) for row in rows]
    answers = queue.offer_many(offers)
    running = [ref for (ref, _), answer in zip(offers, answers, strict=True) if answer is Offer.RERUN]
    if running:
        # Due before the next sweep, not exactly at it: a small delay would cost another whole interval.
        _look_again(engine, running, now + timedelta(seconds=settings.flush_interval_seconds / 2))
    of_agents = Counter((row.tenant, row.agent) for row in rows)
    # An agent with a parked session has enough work: its own flush requests the next cycle after the last session.
    parked = {(row.tenant, row.agent) for row, answer in zip(rows, answers, strict=True) if answer is Offer.PARKED}
    capped = any(count >= per_agent and agent not in parked for agent, count in of_agents.items())
    return SweepReport(len(rows), answers.count(Offer.ENQUEUE), more=capped or len(rows) >= limit)


def _bring_back(connection: Connection, settings: AutoFlush, now: datetime) -> None:
    """Make sessions due whose due time can't come from a correct clock (I3)."""
    waits = (settings.idle_seconds, settings.max_dirty_age_seconds, settings.lease_seconds)
    longest = max(*waits, settings.retry_interval_seconds) + _CLOCK_SLACK_SECONDS
    in_back_off = max(longest, LONGEST_RETRY_AFTER_SECONDS + _CLOCK_SLACK_SECONDS)
    limits = (now + timedelta(seconds=longest), now + timedelta(seconds=in_back_off))
    connection.exec_driver_sql(_COME_BACK, (*limits, settings.batch.max_sessions_per_cycle, limits[0], now))


def _look_again(engine: Engine, refs: Sequence[SessionRef], at: datetime) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql(_LOOK_AGAIN, (*_names(refs), at, at))


def wake_stale(engine: Engine, settings: AutoFlush, now: datetime) -> int:
    """Make stale sessions due whose unread events would never be flushed; return their number."""
    with engine.begin() as connection:
        woken: int = connection.exec_driver_sql(_WAKE, (settings.stale_ttl_seconds, WOKEN_AT_ONCE, now)).scalar_one()
    return woken


def request_flush(
    engine: Engine, queue: FlushQueue, refs: Sequence[SessionRef], *, by: str, priority: Priority, now: datetime
) -> list[bool | None]:
    """Request flushes for a person: back-offs end, sessions are due now. Each result is dirty, clean, or None."""
    dirty: list[bool | None] = [None] * len(refs)
    for first in range(0, len(refs), REQUEST_BATCH):
        batch = refs[first : first + REQUEST_BATCH]
        names = _names(batch)
        with engine.begin() as connection:
            for place, is_dirty in connection.exec_driver_sql(_REQUEST, (*names, by, now)):
                dirty[first + place - 1] = is_dirty
    queue.offer_many([(ref, priority) for ref, is_dirty in zip(refs, dirty, strict=True) if is_dirty])
    return dirty


def _names(refs: Sequence[SessionRef]) -> tuple[list[str], list[str], list[str]]:
    return [ref.tenant for ref in refs], [ref.agent for ref in refs], [ref.session for ref in refs]


def _offer(tenant: str, agent: str, session: str, *, boosted: bool) -> tuple[SessionRef, Priority]:
    return SessionRef(tenant, agent, session), "high" if boosted else "normal"
