"""Close open work without recent mentions, in one run per scope.

Nothing is removed: the memory stays, with the time at which it expired, and becomes valid again if it is said again.
Milestones of tasks, memories that people wrote, and all other types of memories do not expire.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import OperationalError

from slowwave_server.domain.endings.work import expires_at
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.memories.changes import Author, Ledger, Stale, change_memory
from slowwave_server.services.runs.store import LEASE_SECONDS, finish_run, start_run

PAGE = 500
_OPEN = (
    "m.type = 'task' AND m.trust IN ('user', 'assistant') AND m.status IN ('inbox', 'episode', 'active')"
    " AND m.valid_to IS NULL AND m.superseded_by IS NULL AND m.reaffirmed_at <= :until"
)
_SCOPES = text(
    "SELECT s.id FROM slowwave.scopes s WHERE s.id > :after"
    f" AND EXISTS (SELECT FROM slowwave.memories m WHERE m.scope_id = s.id AND {_OPEN}) ORDER BY s.id LIMIT :most"
)
_OF_SCOPE = text(
    "SELECT m.id, m.revision, m.content, m.reaffirmed_at FROM slowwave.memories m"
    f" WHERE m.scope_id = :scope AND {_OPEN} ORDER BY m.reaffirmed_at, m.id"
)


def expire_work(
    engine: Engine,
    days: int,
    *,
    now: datetime,
    by: str | None,
    dry_run: bool,
    go_on: Callable[[], bool],
    part_of: int | None = None,
) -> int:
    """End open work last said `days` ago (0: none), and count it. A busy scope waits for the next run."""
    ended, after = 0, 0
    until = now - timedelta(days=days)
    while days and go_on():
        with engine.connect() as connection:
            values = {"after": after, "until": until, "most": PAGE}
            scopes = list(connection.execute(_SCOPES, values).scalars())
        for scope_id in scopes:
            ended += _expire(engine, scope_id, days, now=now, by=by, dry_run=dry_run, part_of=part_of)
        if len(scopes) < PAGE:
            break
        after = scopes[-1]
    return ended


def _expire(
    engine: Engine,
    scope_id: int,
    days: int,
    *,
    now: datetime,
    by: str | None,
    dry_run: bool,
    part_of: int | None,
) -> int:
    try:
        # Start a transaction even if the engine is in autocommit, because all statements must succeed together.
        with (
            engine.connect().execution_options(isolation_level="READ COMMITTED") as connection,
            connection.begin(),
        ):
            due = _due(connection, scope_id, days, now)
            if due and not dry_run:
                _end(connection, scope_id, due, days, now=now, by=by, part_of=part_of)
            return len(due)
    except (Stale, OperationalError):
        return 0  # one of them was said again just now: the next run checks again


def _due(connection: Connection, scope_id: int, days: int, now: datetime) -> list[tuple[Any, datetime]]:
    rows = connection.execute(_OF_SCOPE, {"scope": scope_id, "until": now - timedelta(days=days)}).all()
    ends = ((row, expires_at(row.content, row.reaffirmed_at, days)) for row in rows)
    return [(row, at) for row, at in ends if at <= now]


def _end(
    connection: Connection,
    scope_id: int,
    due: list[tuple[Any, datetime]],
    days: int,
    *,
    now: datetime,
    by: str | None,
    part_of: int | None,
) -> None:
    run = start_run(
        connection,
        kind="other",
        now=now,
        lease_seconds=LEASE_SECONDS,
        scope_id=scope_id,
        by=by,
        part_of=part_of,
    )
    for row, at in due:
        change_memory(
            Ledger(connection, Author(run.id, by), now),
            row.id,
            row.revision,
            {"valid_to": at},
            action="expired",
            reason=f"open work that nobody spoke of for {pluralize(days, 'day')}",
        )
    summary = f"{pluralize(len(due), 'open task')} expired"
    finish_run(connection, run, status="completed", summary=summary, stats={"expired": len(due)}, now=now)
