"""Check that the active memory backend keeps up: its last failure, and rows that have waited for too long."""

from datetime import datetime

from sqlalchemy import Connection

from slowwave_server.domain.spoken_time import duration_words, pluralize
from slowwave_server.services.reports.check import Check, problem
from slowwave_server.services.reports.metrics.deliveries import read_waiting
from slowwave_server.services.reports.metrics.sessions import age

LATE_SYNCS = 10
"""What waits for longer than so many ticks is late."""


def check_backlog(
    connection: Connection, backend: str, name: str, sync_seconds: float, *, now: datetime
) -> Check | None:
    """Return the problem, under the check's `name`, or None if the backend keeps up. Counts all tenants together."""
    found = read_waiting(connection, backend)
    if found.error is not None:
        return problem(name, "deliveries-fail", f"the last delivery failed: {found.error}")
    waited = age(found.oldest, now)
    if waited > LATE_SYNCS * sync_seconds:
        finding = f"{pluralize(found.waiting, 'memory', 'memories')} waiting, the first for {duration_words(waited)}"
        return problem(name, "deliveries-late", finding)
    return None
