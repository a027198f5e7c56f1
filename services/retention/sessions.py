"""Limit sessions without an end: a session that was quiet for a long time gets a last flush, and an agent has a maximum
of open sessions.

No data is dropped: the session only becomes due for a flush, and continues when it gets a new event.
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
    """Counts of sessions that were quiet for too long, and that were beyond their agent's maximum."""

    closed: int
    asked: int


def bound_sessions(engine: Engine, rules: Sessions, now: datetime) -> BoundReport:
    """Make sessions due that exceed a limit (0: none). A locked row waits for the next call."""
    closed = asked = 0
    if rules.session_ttl_minutes:
        closed = _repeat(engine, _CLOSE, rules.session_ttl_minutes * 60.0, now)
    if rules.max_active_sessions:
        asked = _repeat(engine, _BOUND, rules.max_active_sessions, now)
    return BoundReport(closed, asked)


def _repeat(engine: Engine, statement: str, bound: float, now: datetime) -> int:
    """Repeat in batches, until one is not full."""
    total = 0
    for _ in range(ROUNDS):
        with engine.begin() as connection:
            count: int = connection.exec_driver_sql(statement, (bound, BATCH, now)).scalar_one()
        total += count
        if count < BATCH:
            break
    return total
