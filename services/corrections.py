"""Correct one memory by hand: change its text or its type, or archive it.

Each correction is a separate run, so that people can explain and undo it (I6). It applies to the revision that the
person
saw: if the memory has changed since then, nothing happens, and the person gets an error. A correction has the same
effect as the same edit of a memory file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.errors import DeadlockDetected, ForeignKeyViolation
from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import DBAPIError

from slowwave.errors import InvalidMessage, SlowwaveError
from slowwave.memory_types import MemoryType
from slowwave.messages import MAX_CONTENT_CHARACTERS
from slowwave.postgres_text import clean_text
from slowwave_server.domain.changes import ChangeLine
from slowwave_server.domain.redaction import redact
from slowwave_server.models import Memory, Scope
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memories.changes import Author, Ledger, changes_of_run
from slowwave_server.services.memory_files.hand_effects import HandEffects
from slowwave_server.services.review.cases import lock_scopes
from slowwave_server.services.runs.store import LEASE_SECONDS, Run, finish_run, start_run

PLACE = "corrections"
"""The stored place of edits that were not made in a memory file; edits in a file have the file's path."""
REASON_CHARACTERS = 500
"""The largest number of stored characters of a reason."""
ATTEMPTS = 3
# A deadlock, or the scope of a memory that is being forgotten.
_AGAIN = (DeadlockDetected, ForeignKeyViolation)


class CannotCorrect(SlowwaveError):
    """The memory has changed since the person saw it, or can't be edited in its state; the message says which."""


@dataclass(frozen=True, slots=True)
class Correction:
    """The result. memory: the id of the memory with the new text; for an archived memory, its own id."""

    run: int
    memory: UUID
    changes: tuple[ChangeLine, ...]


def correct(
    engine: Engine,
    tenant: str,
    memory: UUID,
    words: str | None,
    *,
    type: MemoryType | None = None,  # noqa: A002 (the column's name, as everywhere)
    revision: int | None,
    reason: str | None = None,
    by: str,
    now: datetime,
) -> Correction:
    """Edit a memory of `tenant` by hand. A new memory with the new text replaces it, with its dates and its importance.

    words: the new text, or None to keep it. type: the new type, or None to keep it. revision: the revision that the
    person saw; None accepts any. reason: the reason, for the run's summary. Raises UnknownName, CannotCorrect,
    InvalidMessage.
    """
    said = None if words is None else _checked(words)
    if said is None and type is None:
        raise InvalidMessage("give content or type: a correction changes one of them at least")

    def change(effects: HandEffects, row: Any) -> UUID:
        wanted = (row.content if said is None else said, row.type if type is None else type)
        if wanted == (row.content, row.type):
            raise CannotCorrect(f"memory {memory} says just that")
        return effects.corrected(memory, *wanted, PLACE)

    summary = _summary("a memory of another type" if said is None else "a memory in other words", reason)
    return _in_a_run(engine, tenant, memory, revision, change, summary, by=by, now=now)


def withdraw(
    engine: Engine,
    tenant: str,
    memory: UUID,
    *,
    revision: int | None,
    reason: str | None = None,
    by: str,
    now: datetime,
) -> Correction:
    """Archive a memory of `tenant`, which stays readable. Arguments and errors as in correct()."""

    def change(effects: HandEffects, _: Any) -> UUID:
        effects.withdrawn(memory)
        return memory

    summary = _summary("a memory archived by hand", reason)
    return _in_a_run(engine, tenant, memory, revision, change, summary, by=by, now=now)


def _checked(words: str) -> str:
    said = " ".join(clean_text(words).split())
    if not said:
        raise InvalidMessage("words: say what is to be remembered instead; to have it forgotten, forget it")
    if len(said) > MAX_CONTENT_CHARACTERS:
        raise InvalidMessage(f"words: at most {MAX_CONTENT_CHARACTERS:,} characters, these are {len(said):,}")
    return said


def _summary(what: str, reason: str | None) -> str:
    why = "" if reason is None else " ".join(clean_text(reason).split())[:REASON_CHARACTERS]
    return f"{what}: {redact(why).text}" if why else what


def _in_a_run(
    engine: Engine,
    tenant: str,
    memory: UUID,
    revision: int | None,
    change: Callable[[HandEffects, Any], UUID],
    summary: str,
    *,
    by: str,
    now: datetime,
) -> Correction:
    # Start a transaction even if the engine is in autocommit, because all statements must succeed together.
    engine = engine.execution_options(isolation_level="READ COMMITTED")
    for left in reversed(range(ATTEMPTS)):
        try:
            with engine.begin() as connection:
                row = _look(connection, tenant, memory, revision)
                run = start_run(
                    connection, kind="review", now=now, lease_seconds=LEASE_SECONDS, scope_id=row.scope_id, by=by
                )
                became = change(HandEffects(Ledger(connection, Author(run.id, by), now), row.scope_id), row)
                return _finish(connection, run, became, summary, now)
        except DBAPIError as error:
            if not left or not isinstance(error.orig, _AGAIN):
                raise
    raise AssertionError  # pragma: no cover (the last attempt answers or raises)


def _look(connection: Connection, tenant: str, memory: UUID, revision: int | None) -> Any:
    """Lock and return the memory. Scopes are locked first, as in review decisions, to avoid deadlocks."""
    query = select(Memory.scope_id).join(Scope, Scope.id == Memory.scope_id)
    scope_id = connection.execute(query.where(Scope.tenant == tenant, Memory.id == memory)).scalar()
    row = None
    if scope_id is not None:
        lock_scopes(connection, [scope_id])
        mine = (Memory.scope_id == scope_id, Memory.id == memory)
        columns = (Memory.scope_id, Memory.content, Memory.type, Memory.status, Memory.valid_to, Memory.revision)
        row = connection.execute(select(*columns).where(*mine).with_for_update()).first()
    if row is None:
        raise UnknownName(f"tenant {tenant!r} has no memory {memory}; `slowwave memory list AGENT` lists them")
    if revision is not None and row.revision != revision:
        raise CannotCorrect("this memory has changed since you read it; read it again before you change it")
    if row.status == "archived":
        raise CannotCorrect(f"memory {memory} is archived; undo what archived it first")
    if row.valid_to is not None:
        raise CannotCorrect(
            f"memory {memory} holds no more, since {row.valid_to:%Y-%m-%d}; change the one that replaced it"
        )
    return row


def _finish(connection: Connection, run: Run, memory: UUID, summary: str, now: datetime) -> Correction:
    changes = changes_of_run(connection, run.id)
    finish_run(connection, run, status="completed", summary=summary, stats={"changes": len(changes)}, now=now)
    return Correction(run.id, memory, changes)
