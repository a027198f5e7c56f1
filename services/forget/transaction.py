"""Forget data in Postgres: one transaction; the preview is the same transaction rolled back."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from psycopg.errors import DeadlockDetected, ForeignKeyViolation, LockNotAvailable, SerializationFailure
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from slowwave_server.services.forget.aliases import ALIASES, mark_aliases
from slowwave_server.services.forget.dead_letters import take_dead_letters
from slowwave_server.services.forget.evidence import REASON, Remains
from slowwave_server.services.forget.gather import gather
from slowwave_server.services.forget.receipts import was_forgotten, write_receipt
from slowwave_server.services.forget.rows import CONVERSATIONS, MEMORIES, close_runs, mark_runs, take_away
from slowwave_server.services.forget.statistics import STATISTICS
from slowwave_server.services.forget.target import CannotForget, Target
from slowwave_server.services.memories.use import relearn

STATEMENT_MINUTES = 30
PATIENCE_SECONDS = 60.0
FIRST_PAUSE_SECONDS = 0.05
LAST_PAUSE_SECONDS = 1.0
# A lock that was not free, a deadlock, or a new row that refers to a deleted one.
_AGAIN = (LockNotAvailable, DeadlockDetected, SerializationFailure, ForeignKeyViolation)
# Memories whose importance conversations changed that go.
_LEARNED = text(
    "SELECT DISTINCT u.memory_id FROM slowwave.memory_uses u JOIN gone_sessions s ON s.id = u.session_id"
    " JOIN slowwave.memories m ON m.id = u.memory_id AND m.use_gain <> 0"
)


@dataclass(frozen=True, slots=True)
class Erased:
    """The data that a forget deleted, or would delete, in Postgres. known: True if the target existed.

    sessions: (agent, session) of the deleted conversations; elsewhere: for a scope, other sessions of these agents.
    scopes: the scopes that are deleted completely, as (id, kind, name); near: other affected scopes.
    """

    erasure: int | None
    known: bool
    counts: dict[str, int]
    sessions: tuple[tuple[str, str], ...] = ()
    scopes: tuple[tuple[int, str, str], ...] = ()
    near: tuple[tuple[int, str, str], ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()


def erase(engine: Engine, target: Target, *, clock: Callable[[], datetime], by: str, dry_run: bool) -> Erased:
    """Delete all rows of the target, or none. dry_run: True to delete, count, and roll back.

    Raises CannotForget if other transactions have locked the rows for a minute; nothing is then changed.
    """
    until, rest = time.monotonic() + PATIENCE_SECONDS, FIRST_PAUSE_SECONDS
    while True:
        try:
            with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection:
                erased = _erase(connection, target, clock=clock, by=by)
                if dry_run:
                    connection.rollback()
                else:
                    connection.commit()
                return erased
        except DBAPIError as error:
            if not isinstance(error.orig, _AGAIN):
                raise
            if time.monotonic() > until:
                raise CannotForget(
                    f"{target} can't be forgotten now: a pass or other work has been at it for a minute; nothing was"
                    " deleted, try again"
                ) from None
        time.sleep(rest)
        rest = min(2 * rest, LAST_PAUSE_SECONDS)


def _erase(connection: Connection, target: Target, *, clock: Callable[[], datetime], by: str) -> Erased:
    connection.execute(text("SELECT set_config('statement_timeout', :t, true)"), {"t": f"{STATEMENT_MINUTES}min"})
    gather(connection, target)
    values: dict[str, object] = {"now": clock(), "reason": REASON}
    remains = Remains(connection, clock())
    remains.find()
    remains.settle()
    mark_runs(connection)
    mark_aliases(connection)
    sessions = _sessions(connection, "IN")
    # Only messages that name just a scope need this list, and an agent may have ten thousand sessions.
    elsewhere = _sessions(connection, "NOT IN") if target.kind == "scope" else ()
    scopes = _scopes(connection, "gone_scopes")
    near = tuple(scope for scope in _scopes(connection, "near_scopes") if scope not in scopes)
    known = _is_known(connection, target)
    learned = connection.execute(_LEARNED).scalars().all()
    counts: Counter[str] = take_away(connection, STATISTICS, values)
    counts += take_away(connection, MEMORIES, values)
    counts += take_away(connection, ALIASES, values)
    counts += take_away(connection, CONVERSATIONS, values)
    remains.weigh()
    relearn(connection, learned, now=clock())
    close_runs(connection, values)
    counts["dead letters"] = take_dead_letters(connection, target)
    counts["memories that stand for themselves again"] = len(remains.standing)
    shown = {label: number for label, number in counts.items() if number}
    # Read the time as late as possible: all data recorded before this moment is discarded.
    erasure = write_receipt(connection, target, at=clock(), by=by, counts=shown)
    return Erased(erasure, known, shown, sessions, scopes, near, elsewhere)


def _sessions(connection: Connection, which: str) -> tuple[tuple[str, str], ...]:
    found = connection.execute(
        text(
            "SELECT a.name AS agent, s.name AS session FROM slowwave.sessions s JOIN gone_agents g ON g.id = s.agent_id"
            f" JOIN slowwave.agents a ON a.id = g.id WHERE s.id {which} (SELECT id FROM gone_sessions) ORDER BY 1, 2"
        )
    )
    return tuple((row.agent, row.session) for row in found)


def _scopes(connection: Connection, table: str) -> tuple[tuple[int, str, str], ...]:
    found = connection.execute(
        text(f"SELECT k.id, k.kind, k.name FROM slowwave.scopes k JOIN {table} g ON g.id = k.id ORDER BY k.id")
    )
    return tuple((row.id, row.kind, row.name) for row in found)


def _is_known(connection: Connection, target: Target) -> bool:
    """Return True if the target exists."""
    tables = {
        "agent": ("gone_agents",),
        "session": ("gone_sessions", "gone_items"),
        "scope": ("gone_scopes",),
        "memory": ("gone_memories",),
        "import": ("gone_runs",),
    }
    query = " OR ".join(f"EXISTS (SELECT FROM {table})" for table in tables[target.kind])
    # A target that was forgotten before counts as known, because data outside Postgres may remain.
    return bool(connection.execute(text(f"SELECT {query}")).scalar_one()) or was_forgotten(connection, target)
