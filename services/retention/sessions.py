"""Sessions without an end: a session that was quiet for long gets a last flush, and an agent has a maximum of open
sessions.

Nothing is dropped: a session is only asked to flush, and goes on when somebody speaks in it again.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine

from slowwave.settings_sections import Sessions

BATCH = 1000
"""The largest number of rows that one statement locks."""
ROUNDS = 100

_CLOSE = "SELECT slowwave.close_sessions(%s, %s, %s)"
_BOUND = "SELECT slowwave.request_excess_flushes(%s, %s, %s)"


@dataclass(frozen=True, slots=True)
class BoundReport:
    """closed: sessions that were quiet for too long; asked: sessions beyond their agent's maximum."""

    closed: int
    asked: int


def bound_sessions(engine: Engine, rules: Sessions, now: datetime) -> BoundReport:
    """Ask those sessions to flush that are over one of the bounds. A row that somebody else holds waits for the next
    call. 0 in the settings: no bound.
    """
    closed = asked = 0
    if rules.session_ttl_minutes:
        closed = _repeat(engine, _CLOSE, rules.session_ttl_minutes * 60.0, now)
    if rules.max_active_sessions:
        asked = _repeat(engine, _BOUND, rules.max_active_sessions, now)
    return BoundReport(closed, asked)


def _repeat(engine: Engine, statement: str, bound: float, now: datetime) -> int:
    """In batches, until one is not full."""
    total = 0
    for _ in range(ROUNDS):
        with engine.begin() as connection:
            count: int = connection.exec_driver_sql(statement, (bound, BATCH, now)).scalar_one()
        total += count
        if count < BATCH:
            break
    return total
