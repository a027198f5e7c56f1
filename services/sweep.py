"""The sweep: offer the sessions whose time has come. It repairs whatever was lost between Postgres and Redis.

It takes what it offers (their due time moves on), so that the next sweep sees others, and it stops where the queue is
long enough: a backlog waits in Postgres, where it is ordered and fair, and not in a list of messages.

Must not know: Celery, who calls it and how often.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine

from slowwave.coordination.answers import Offer, Priority
from slowwave.coordination.flush_queue import FlushQueue
from slowwave.coordination.keys import NORMAL_QUEUE
from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush

_TAKE = "SELECT tenant, agent, session, boosted FROM slowwave.take_due(%s, %s, %s, %s, %s, %s)"
_REQUEST = "SELECT place, dirty FROM slowwave.request_flush(%s, %s, %s, %s, %s)"
# Sessions whose rows one statement locks.
REQUEST_BATCH = 200
_WAKE = "SELECT slowwave.wake_stale(%s, %s, %s)"


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What one cycle did. `more`: a cap ended it, so sessions that are due may be left."""

    taken: int
    enqueued: int
    more: bool


def sweep(engine: Engine, queue: FlushQueue, settings: AutoFlush, now: datetime) -> SweepReport:
    """Run one cycle. Safe to run twice at once: a row that one sweep holds, another skips."""
    room = settings.max_queued - queue.depths()[NORMAL_QUEUE]
    if not settings.enabled or room <= 0:
        return SweepReport(0, 0, more=settings.enabled)
    limit = min(settings.batch.max_sessions_per_cycle, room)
    per_agent = settings.batch.max_sessions_per_agent_per_cycle
    with engine.begin() as connection:
        waits = (settings.retry_interval_seconds, settings.idle_seconds, settings.max_dirty_age_seconds)
        rows = connection.exec_driver_sql(_TAKE, (limit, per_agent, *waits, now)).all()
    answers = queue.offer_many([_offer(row.tenant, row.agent, row.session, boosted=row.boosted) for row in rows])
    of_agents = Counter((row.tenant, row.agent) for row in rows)
    capped = len(rows) >= limit or any(count >= per_agent for count in of_agents.values())
    return SweepReport(len(rows), answers.count(Offer.ENQUEUE), more=capped)


def wake_stale(engine: Engine, settings: AutoFlush, now: datetime, *, limit: int = 1000) -> int:
    """Give stale dirty sessions that nothing would wake a last flush; answers how many. Never drops any."""
    with engine.begin() as connection:
        woken: int = connection.exec_driver_sql(_WAKE, (settings.stale_ttl_seconds, limit, now)).scalar_one()
    return woken


def request_flush(
    engine: Engine, queue: FlushQueue, refs: Sequence[SessionRef], *, by: str, priority: Priority, now: datetime
) -> list[bool | None]:
    """Ask for flushes by hand: a back-off ends, the sessions are due now. Each is dirty, clean, or None: unknown."""
    dirty: list[bool | None] = [None] * len(refs)
    for first in range(0, len(refs), REQUEST_BATCH):
        batch = refs[first : first + REQUEST_BATCH]
        names = ([ref.tenant for ref in batch], [ref.agent for ref in batch], [ref.session for ref in batch])
        with engine.begin() as connection:
            for place, is_dirty in connection.exec_driver_sql(_REQUEST, (*names, by, now)):
                dirty[first + place - 1] = is_dirty
    queue.offer_many([(ref, priority) for ref, is_dirty in zip(refs, dirty, strict=True) if is_dirty])
    return dirty


def _offer(tenant: str, agent: str, session: str, *, boosted: bool) -> tuple[SessionRef, Priority]:
    return SessionRef(tenant, agent, session), "high" if boosted else "normal"
