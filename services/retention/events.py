"""Remove old events that are no longer needed.

An event is removed if all of this holds: it is old enough by its own time and by its arrival, it was flushed, its day
is final, it is not quarantined, and it is not evidence for a live memory. Its day keeps its summaries and their
segments, and counts the event as removed. So after a late event, the new summary of the day still covers the removed
events.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sqlalchemy import Connection, Engine, Row, text

from slowwave_server.services.search.statistics import refresh_statistics

BATCH = 1000
"""The largest number of events in one transaction. It bounds how long a running conversation waits for the lock."""
DAYS_PAGE = 500

# The newest days first: of the older days, mostly events that must stay are left.
_DAYS = text(
    "SELECT y.agent_id, y.scope_id, y.day FROM slowwave.days y"
    " WHERE y.status = 'final' AND y.day <= :newest AND (y.day, y.agent_id, y.scope_id) < (:day, :agent, :scope)"
    "  AND EXISTS (SELECT FROM slowwave.session_days d WHERE d.agent_id = y.agent_id AND d.scope_id = y.scope_id"
    "    AND d.day = y.day AND d.total_messages > d.removed)"
    " ORDER BY y.day DESC, y.agent_id DESC, y.scope_id DESC LIMIT :most"
)
_SESSIONS = text(
    "SELECT d.session_id FROM slowwave.session_days d"
    " WHERE d.agent_id = :agent AND d.scope_id = :scope AND d.day = :day AND d.total_messages > d.removed"
    " ORDER BY d.session_id"
)
_REMOVE = text("SELECT slowwave.remove_events(:session, :day, :before, :most)")
_COUNT = text("SELECT count(*) FROM slowwave.removable_events(:session, :day, :before, NULL)")
_COUNTED = text("SELECT k.id FROM slowwave.scopes k WHERE k.id = :scope AND k.counted_at IS NOT NULL")


@dataclass(frozen=True, slots=True)
class Removal:
    """The counts of removed rows, or of rows to remove. days: the number of days that lost events; busy: the number of
    sessions that another transaction held.

    done: False if the removal stopped early; the next call starts again.
    """

    events: int = 0
    sessions: int = 0
    days: int = 0
    busy: int = 0
    done: bool = True


def remove_old_events(
    engine: Engine,
    event_days: int,
    *,
    now: datetime,
    dry_run: bool = False,
    go_on: Callable[[], bool] = lambda: True,
) -> Removal:
    """Remove events of all tenants that are older than `event_days` days and no longer needed. 0: remove none.

    go_on: a function that is called before each day; if it returns False, the removal stops. A second call removes
    nothing more.
    """
    if event_days == 0:
        return Removal()
    before = now - timedelta(days=event_days)
    events = sessions = days = busy = 0
    shrunk: set[int] = set()
    for day in _final_days(engine, before):
        if not go_on():
            return Removal(events, sessions, days, busy, done=False)
        which = {"day": day.day, "before": before}
        gone = [
            _of_session(engine, which | {"session": session}, dry_run=dry_run)
            for session in _sessions_of(engine, day)
        ]  # fmt: skip
        events += sum(count or 0 for count in gone)
        sessions += sum(1 for count in gone if count)
        busy += gone.count(None)
        days += any(gone)
        if any(gone):
            shrunk.add(day.scope_id)
    if not dry_run:
        _count_again(engine, shrunk, now)
    return Removal(events, sessions, days, busy)


def _final_days(engine: Engine, before: datetime) -> Iterator[Row[tuple[int, int, date]]]:
    # A local day may be one day ahead of UTC, so the age of each event is checked.
    newest = before.date() + timedelta(days=1)
    last = {"day": date.max, "agent": 0, "scope": 0}
    while True:
        with engine.connect() as connection:
            page = connection.execute(_DAYS, {"newest": newest, "most": DAYS_PAGE, **last}).all()
        yield from page
        if len(page) < DAYS_PAGE:
            return
        last = {"day": page[-1].day, "agent": page[-1].agent_id, "scope": page[-1].scope_id}


def _sessions_of(engine: Engine, day: Row[tuple[int, int, date]]) -> list[int]:
    values = {"agent": day.agent_id, "scope": day.scope_id, "day": day.day}
    with engine.connect() as connection:
        return list(connection.execute(_SESSIONS, values).scalars())


def _of_session(engine: Engine, which: dict[str, object], *, dry_run: bool) -> int | None:
    """Return how many events were, or would be, removed; None if another transaction holds the session."""
    if dry_run:
        with engine.connect() as connection:
            return int(connection.execute(_COUNT, which).scalar_one())
    total = 0
    while True:
        with engine.begin() as connection:
            count: int | None = connection.execute(_REMOVE, {**which, "most": BATCH}).scalar_one()
        if count is None:
            return total or None
        total += count
        if count < BATCH:
            return total


def _count_again(engine: Engine, scopes: set[int], now: datetime) -> None:
    """Mark a scope that shrank for new term statistics; a scope that grows is found without a mark."""
    for scope_id in sorted(scopes):
        with engine.begin() as connection:
            if _counted(connection, scope_id):
                refresh_statistics(connection, scope_id, now)


def _counted(connection: Connection, scope_id: int) -> bool:
    return connection.execute(_COUNTED, {"scope": scope_id}).first() is not None
