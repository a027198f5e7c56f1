"""Remove old model calls, whose costs stay in counters, and answers to windows that were never committed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Engine, text

CALL_DAYS = 90
"""Single calls tell what went wrong lately; longer than a run, a week's cap, or an undo needs them."""
ANSWER_HOURS = 24
"""An answer waits for its window's commit, which is a matter of seconds; later the model is asked again."""
BATCH = 5000

_TENANTS = text("SELECT DISTINCT u.tenant FROM slowwave.llm_usage u ORDER BY u.tenant")
_OLD = "c.tenant = :tenant AND c.reserved_at < :before AND c.outcome IS NOT NULL"
_COUNT = text(f"SELECT count(*) FROM slowwave.llm_calls c WHERE {_OLD}")
_REMOVE = text(
    "DELETE FROM slowwave.llm_calls WHERE id IN ("
    f"SELECT c.id FROM slowwave.llm_calls c WHERE {_OLD} ORDER BY c.reserved_at LIMIT {BATCH} FOR UPDATE SKIP LOCKED)"
)
_OLD_ANSWERS = text("DELETE FROM slowwave.window_answers w WHERE w.asked_at < :before")


@dataclass(frozen=True, slots=True)
class CallRemoval:
    """The number of calls that were, or would be, removed. done: False if the next call must continue."""

    calls: int = 0
    done: bool = True


def remove_old_calls(
    engine: Engine, *, now: datetime, dry_run: bool = False, go_on: Callable[[], bool] = lambda: True
) -> CallRemoval:
    """Remove the settled calls of all tenants that were made more than CALL_DAYS days ago.

    go_on: a function that is called before each statement; if it returns False, the removal stops.
    """
    with engine.connect() as connection:
        tenants = connection.execute(_TENANTS).scalars().all()
    total = 0
    for tenant in tenants:
        values = {"tenant": tenant, "before": now - timedelta(days=CALL_DAYS)}
        while True:
            if not go_on():
                return CallRemoval(total, done=False)
            with engine.begin() as connection:
                found = connection.execute(_COUNT if dry_run else _REMOVE, values)
                count = int(found.scalar_one()) if dry_run else found.rowcount
            total += count
            if dry_run or count < BATCH:
                break
    return CallRemoval(total)


def remove_old_answers(engine: Engine, *, now: datetime) -> int:
    """Remove answers about windows that were not committed within ANSWER_HOURS. Return their number."""
    with engine.begin() as connection:
        return connection.execute(_OLD_ANSWERS, {"before": now - timedelta(hours=ANSWER_HOURS)}).rowcount
