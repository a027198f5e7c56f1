"""Whether a memory backend that is fed keeps up, whichever it is: what failed last, and what waits for too long.

Must not know: which backends there are, how one is reached.
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection, func, select

from domain.spoken_time import count_words, duration_words
from models import OutboxItem
from services.memory_files.outbox import HELD, undelivered
from services.reports.doctor import Check

LATE_SYNCS = 10
"""What waits for longer than so many ticks is late."""


def check_backlog(
    connection: Connection, backend: str, name: str, sync_seconds: float, *, now: datetime
) -> Check | None:
    """The problem, under the check's `name`; None where the backend keeps up. Of all tenants, by number alone."""
    row = connection.execute(
        select(
            func.count().label("waiting"),
            func.min(OutboxItem.queued_at).label("oldest"),
            # What is held back is no failure.
            func.max(OutboxItem.last_error).filter(OutboxItem.last_error != HELD).label("error"),
        ).where(undelivered(backend))
    ).one()
    if row.error is not None:
        cure = "mend that; it is tried again by itself"
        return Check(name, "problem", f"the last delivery failed: {row.error}", cure)
    if row.oldest is not None and row.oldest < now - timedelta(seconds=LATE_SYNCS * sync_seconds):
        waited = duration_words((now - row.oldest).total_seconds())
        finding = f"{count_words(row.waiting, 'memory', 'memories')} waiting, the first for {waited}"
        return Check(name, "problem", finding, "start beat and a worker on the queue 'consolidate'")
    return None
