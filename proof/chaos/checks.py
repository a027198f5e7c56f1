"""Check every guarantee: read the servers after all work is done, and compare them with the producers' journals.

The evidence names a folder with the producers' journals (`journal.py`); workers may continue to run. The system's clock
must be right again.
"""

from collections.abc import Callable, Sequence

from psycopg import Error as PostgresError
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from proof.chaos import (
    checks_budget,
    checks_changes,
    checks_days,
    checks_events,
    checks_facts,
    checks_forgotten,
    checks_progress,
    checks_redis,
    checks_walls,
    checks_windows,
)
from proof.chaos.evidence import Evidence
from proof.chaos.findings import Finding
from slowwave.errors import SlowwaveError

__all__ = ["CHECKS", "Finding", "check_all"]

Check = Callable[[Evidence], list[Finding]]
CHECKS: tuple[Check, ...] = (
    *checks_events.CHECKS,
    *checks_windows.CHECKS,
    *checks_progress.CHECKS,
    *checks_days.CHECKS,
    *checks_changes.CHECKS,
    *checks_budget.CHECKS,
    *checks_walls.CHECKS,
    *checks_facts.CHECKS,
    *checks_forgotten.CHECKS,
    *checks_redis.CHECKS,
)


def check_all(evidence: Evidence, checks: Sequence[Check] = CHECKS) -> list[Finding]:
    """Return all violations, and each check that could not be made."""
    return [finding for check in checks for finding in _found(check, evidence)]


def _found(check: Check, evidence: Evidence) -> list[Finding]:
    try:
        return check(evidence)
    except (SQLAlchemyError, PostgresError, RedisError, SlowwaveError) as error:
        return [Finding("unchecked", f"{check.__name__} could not be made", f"{type(error).__name__}: {error}")]
