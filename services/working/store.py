"""Read due notes of working memory in Postgres, and write about them. All calls concern one scope (I8)."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.errors import LockNotAvailable
from sqlalchemy import ColumnElement, Connection, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError, OperationalError

from slowwave_server.domain.candidates import first_status
from slowwave_server.domain.extraction.entities import entities
from slowwave_server.domain.languages import detect
from slowwave_server.domain.profile import profile_of
from slowwave_server.domain.statements import content_hash
from slowwave_server.domain.working import NOTE_CONFIDENCE, NOTE_TRUST, Link, Note, Sifted
from slowwave_server.models import MaintenanceRun, MemoryChange, MemoryLink, Scope, WorkingItem
from slowwave_server.models.base import columns_of
from slowwave_server.services.flush.rows import clean_error
from slowwave_server.services.memories.changes import Author

RETRY = timedelta(days=1)
"""The delay before a note that raised an error is tried again, until it expires. A newer release may keep it."""
MAX_EXPIRED = 1000
"""The largest number of notes that expire in one cycle; the next cycle takes the others."""

DEAD_RUN = "its process ended before the cycle; the cycle wrote nothing"

# One lock for all hosts; Postgres releases it when the holder's connection ends.
_LOCK = text("SELECT pg_advisory_lock(hashtextextended('slowwave.working ' || :scope, 0))")
_UNLOCK = text("SELECT pg_advisory_unlock(hashtextextended('slowwave.working ' || :scope, 0))")
_PATIENCE = text("SELECT set_config('lock_timeout', :milliseconds, true)")
_KEEP = text(
    "SELECT item, memory, is_new FROM slowwave.consolidate_notes(:scope, :run, :by, CAST(:items AS jsonb), :now)"
)


@dataclass(frozen=True, slots=True)
class NoteOutcome:
    """The memory that a note became: a new one, or an existing one."""

    memory: UUID
    is_new: bool


@dataclass(frozen=True, slots=True)
class DueScope:
    """A scope, by its names, with due notes in its working memory."""

    tenant: str
    kind: str
    name: str


def due_scopes(connection: Connection, *, min_importance: float, limit: int, now: datetime) -> list[DueScope]:
    """Return scopes of all tenants in which notes are due, due again or expired, the longest waiting first."""
    due = or_(WorkingItem.marked, WorkingItem.importance >= min_importance, WorkingItem.expires_at <= now)
    columns = WorkingItem.scope_id, WorkingItem.said_at
    # One branch for each condition, because each has its own index.
    waiting = select(*columns).where(WorkingItem.outcome.is_(None), due)
    found = waiting.union_all(select(*columns).where(*_due_again(now))).subquery()
    query = (
        select(Scope.tenant, Scope.kind, Scope.name)
        .join(found, found.c.scope_id == Scope.id)
        .group_by(Scope.id)
        .order_by(func.min(found.c.said_at), Scope.id)
        .limit(limit)
    )
    return [DueScope(**row) for row in connection.execute(query).mappings()]


def _due_again(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return WorkingItem.outcome == "failed", WorkingItem.settled_at <= now - RETRY, WorkingItem.expires_at > now


def reopen_failed(connection: Connection, scope_id: int, now: datetime) -> int:
    """Open the notes of a scope that could not be stored a day ago. Return their number."""
    again = update(WorkingItem).where(WorkingItem.scope_id == scope_id, *_due_again(now))
    return connection.execute(again.values(outcome=None, settled_at=None, error=None, run_id=None)).rowcount


@contextmanager
def cycle_lock(connection: Connection, scope_id: int, *, wait_seconds: float) -> Iterator[bool]:
    """Lock the scope against other cycles for the block, over any number of transactions.

    Yields False if another cycle held the lock during all `wait_seconds` (more than 0). The connection holds the lock
    without an open transaction, and a cycle needs only this connection, so a full pool can't block running cycles.
    """
    ours = _take_lock(connection, scope_id, wait_seconds)
    try:
        yield ours
    finally:
        if ours:
            _let_go(connection, scope_id)


def _take_lock(connection: Connection, scope_id: int, wait_seconds: float) -> bool:
    try:
        with connection.begin():
            connection.execute(_PATIENCE, {"milliseconds": str(max(1, round(wait_seconds * 1000)))})
            connection.execute(_LOCK, {"scope": str(scope_id)})
    except OperationalError as error:
        if isinstance(error.orig, LockNotAvailable):
            return False
        raise
    return True


def _let_go(connection: Connection, scope_id: int) -> None:
    try:
        with connection.begin():
            connection.execute(_UNLOCK, {"scope": str(scope_id)})
    except DBAPIError:
        # In the pool, the connection would keep the lock.
        connection.invalidate()


def end_dead_runs(connection: Connection, scope_id: int, now: datetime) -> None:
    """End cycles of this scope whose process has died: the holder of the lock knows that no other cycle is running."""
    connection.execute(
        update(MaintenanceRun)
        .where(
            MaintenanceRun.scope_id == scope_id, MaintenanceRun.kind == "working", MaintenanceRun.status == "running"
        )
        .values(status="failed", error=DEAD_RUN, completed_at=now, lease=None, lease_until=None)
    )


def due_notes(connection: Connection, scope_id: int, *, min_importance: float, limit: int, now: datetime) -> list[Note]:
    """Return open notes that are marked or important enough, oldest first, each once."""
    query = (
        select(*columns_of(WorkingItem, Note))
        .where(
            WorkingItem.scope_id == scope_id,
            WorkingItem.outcome.is_(None),
            WorkingItem.expires_at > now,
            or_(WorkingItem.marked, WorkingItem.importance >= min_importance),
        )
        .order_by(WorkingItem.said_at, WorkingItem.id)
        .limit(limit)
    )
    return [Note(**row) for row in connection.execute(query).mappings()]


def expired_notes(connection: Connection, scope_id: int, now: datetime) -> list[UUID]:
    """Return expired open notes, at most MAX_EXPIRED."""
    query = select(WorkingItem.id).where(
        WorkingItem.scope_id == scope_id, WorkingItem.outcome.is_(None), WorkingItem.expires_at <= now
    )
    return list(connection.execute(query.order_by(WorkingItem.said_at, WorkingItem.id).limit(MAX_EXPIRED)).scalars())


def settle(
    connection: Connection,
    scope_id: int,
    items: Sequence[UUID],
    outcome: str,
    *,
    run_id: int,
    now: datetime,
    error: str | None = None,
) -> None:
    """Remove open items from working memory without a memory; the rows stay."""
    connection.execute(
        update(WorkingItem)
        .where(WorkingItem.scope_id == scope_id, WorkingItem.id.in_(items), WorkingItem.outcome.is_(None))
        .values(outcome=outcome, settled_at=now, run_id=run_id, error=None if error is None else clean_error(error))
    )


def keep(
    connection: Connection, scope_id: int, sifted: Sequence[Sifted], *, author: Author, now: datetime
) -> dict[UUID, NoteOutcome]:
    """Store notes as memories, or as evidence of existing ones, and settle them in one statement."""
    rows = connection.execute(
        _KEEP,
        {
            "scope": scope_id,
            "run": author.run_id,
            "by": author.by,
            "items": json.dumps([_row(one) for one in sifted]),
            "now": now,
        },
    )
    return {row.item: NoteOutcome(row.memory, row.is_new) for row in rows}


def link(connection: Connection, links: Sequence[tuple[UUID, UUID, Link]], *, author: Author, now: datetime) -> int:
    """Write `related_to` links (from, to, similarity) and record each. Return the number of new ones."""
    if not links:
        return 0
    rows = [
        {
            "source_id": source,
            "target_id": target,
            "predicate": "related_to",
            "confidence": min(1.0, one.score),
            "run_id": author.run_id,
            "created_at": now,
        }
        for source, target, one in links
    ]
    made = connection.execute(
        insert(MemoryLink).on_conflict_do_nothing().returning(MemoryLink.source_id, MemoryLink.target_id), rows
    ).all()
    scores = {(source, target): round(one.score, 4) for source, target, one in links}
    changes = [
        {
            "memory_id": source,
            "run_id": author.run_id,
            "made_by": author.by,
            "action": "linked",
            "after": {"target": str(target), "predicate": "related_to", "confidence": scores[source, target]},
            "reason": f"{scores[source, target]:.2f} alike",
            "made_at": now,
        }
        for source, target in made
    ]
    if changes:
        connection.execute(insert(MemoryChange), changes)
    return len(made)


def _row(one: Sifted) -> dict[str, Any]:
    note, repeats = one.note, one.repeats
    return {
        "id": str(note.id),
        "type": note.type,
        "content": note.content,
        "language": detect(note.content),
        "profile": [trait.to_json() for trait in profile_of(note.content, note.type)],
        "hash": content_hash(note.content).hex(),
        # The same rule as for flushes: dated events are episodes, everything else goes to the inbox.
        "status": first_status(note.type),
        "confidence": NOTE_CONFIDENCE,
        "importance": note.importance,
        "trust": NOTE_TRUST,
        "entities": list(entities(note.content, ())),
        "said_at": note.said_at.isoformat(),
        "reason": one.why,
        "repeats": str(repeats.id) if repeats is not None and not repeats.is_note else None,
        "repeats_item": str(repeats.id) if repeats is not None and repeats.is_note else None,
    }
