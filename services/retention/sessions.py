"""Sessions that nobody ends: those not seen for long get a last flush, and an agent has so many open ones at most.

Nothing is dropped: a session is only asked to flush, and goes on when somebody speaks in it again.

Must not know: who calls it and how often; Redis (the sweep offers what is due).
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine

from slowwave.settings import Sessions

BATCH = 1000
"""So many rows one statement locks."""
ROUNDS = 100

_CLOSE = "SELECT slowwave.close_sessions(%s, %s, %s)"
_BOUND = "SELECT slowwave.request_excess_flushes(%s, %s, %s)"


@dataclass(frozen=True, slots=True)
class BoundReport:
    """closed: sessions that nobody has seen for so long; asked: those beyond their agent's most."""

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
