"""Conflicts: two memories that can't both hold are registered, both stay readable, and a person is asked.

Must not know: how a contradiction is noticed; what an answer does.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from domain.review import Tier, expires
from models import Memory, MemoryConflict, MemoryLink, ReviewItem
from services.memory_changes import Author, note_change


def register_conflict(
    connection: Connection,
    scope_id: int,
    newer: UUID,
    older: UUID,
    *,
    reason: str,
    evidence: Mapping[str, Any],
    author: Author,
    now: datetime,
    resolution: str | None = None,
) -> int | None:
    """Register that `newer` contradicts `older`, both of this scope; answer the number of the conflict.

    With `resolution` it is resolved as soon as it is registered (a supersession, say), also where it had been open
    before. Idempotent by pair, in either order: an open one is answered again. None: the pair was decided already, and
    nobody is asked twice. Raises ValueError for one memory twice, and for memories that are not of the scope (I8).
    """
    first, second = _pair(connection, scope_id, newer, older)
    decided = {} if resolution is None else _decided(author, resolution, now)
    conflict: int | None = connection.execute(
        upsert(MemoryConflict)
        .values(
            scope_id=scope_id,
            memory_id=first,
            conflicting_memory_id=second,
            reason=reason,
            evidence=dict(evidence),
            run_id=author.run_id,
            created_at=now,
            **decided,
        )
        .on_conflict_do_nothing(index_elements=["memory_id", "conflicting_memory_id"])
        .returning(MemoryConflict.id)
    ).scalar()
    if conflict is None:
        return _known(connection, scope_id, (first, second), newer, resolution, author, now)
    _contradicts(connection, newer, older, author, now)
    after = {"conflict": conflict, "with": str(older), "status": "open" if resolution is None else "resolved"}
    after |= {} if resolution is None else {"resolution": resolution}
    note_change(connection, newer, author=author, action="conflict", before=None, after=after, reason=reason, now=now)
    after = after | {"with": str(newer)}
    note_change(connection, older, author=author, action="conflict", before=None, after=after, reason=reason, now=now)
    return conflict


def open_review(
    connection: Connection,
    scope_id: int,
    *,
    memory: UUID | None = None,
    conflict: int | None = None,
    why: str,
    tier: Tier,
    author: Author,
    now: datetime,
) -> int | None:
    """Ask about a memory or about a conflict of this scope; answer the number of the question.

    Idempotent: an open question is answered again. None: this conflict was asked about before, and the answer, or the
    silence, stands. Raises ValueError unless one of the two is given, and is of the scope.
    """
    if (memory is None) == (conflict is None):
        raise ValueError("give a memory or a conflict, one of the two")
    _require(connection, scope_id, memory, conflict)
    if conflict is not None:
        asked = connection.execute(
            select(ReviewItem.id, ReviewItem.state)
            .where(ReviewItem.scope_id == scope_id, ReviewItem.conflict_id == conflict)
            .order_by(ReviewItem.id.desc())
            .limit(1)
        ).first()
        if asked is not None:
            return asked.id if asked.state == "open" else None
    values = {
        "scope_id": scope_id,
        "memory_id": memory,
        "conflict_id": conflict,
        "why": why,
        "tier": tier,
        "expires_at": expires(tier, now),
        "run_id": author.run_id,
        "created_at": now,
    }
    item: int | None = connection.execute(
        upsert(ReviewItem).values(**values).on_conflict_do_nothing().returning(ReviewItem.id)
    ).scalar()
    if item is not None:
        return item
    mine = ReviewItem.memory_id == memory if memory is not None else ReviewItem.conflict_id == conflict
    open_item: int | None = connection.execute(
        select(ReviewItem.id).where(ReviewItem.scope_id == scope_id, ReviewItem.state == "open", mine)
    ).scalar()
    return open_item


def close_conflict(
    connection: Connection,
    scope_id: int,
    conflict: int,
    *,
    status: str,
    resolution: str,
    memory: UUID,
    author: Author,
    now: datetime,
) -> bool:
    """Decide an open conflict of this scope, noted as a change of `memory`, one of its two. False: it wasn't open."""
    return _close(
        connection,
        update(MemoryConflict)
        .where(MemoryConflict.scope_id == scope_id, MemoryConflict.id == conflict, MemoryConflict.status == "open")
        .values(status=status, resolution=resolution, decided_at=now, decided_by=author.by),
        memory,
        before={"conflict": conflict, "status": "open", "resolution": None},
        after={"conflict": conflict, "status": status, "resolution": resolution},
        reason=resolution,
        author=author,
        now=now,
    )


def close_item(
    connection: Connection,
    scope_id: int,
    item: int,
    *,
    state: str,
    reason: str,
    memory: UUID,
    author: Author,
    now: datetime,
) -> bool:
    """Decide an open question of this scope, noted as a change of `memory`, one that it is about. False: not open."""
    return _close(
        connection,
        update(ReviewItem)
        .where(ReviewItem.scope_id == scope_id, ReviewItem.id == item, ReviewItem.state == "open")
        .values(state=state, decided_at=now, decided_by=author.by),
        memory,
        before={"review_item": item, "state": "open"},
        after={"review_item": item, "state": state},
        reason=reason,
        author=author,
        now=now,
    )


def _close(
    connection: Connection,
    statement: Any,
    memory: UUID,
    *,
    before: dict[str, Any],
    after: dict[str, Any],
    reason: str,
    author: Author,
    now: datetime,
) -> bool:
    if connection.execute(statement).rowcount == 0:
        return False
    before |= {"decided_at": None, "decided_by": None}
    after |= {"decided_at": now.isoformat(), "decided_by": author.by}
    note_change(connection, memory, author=author, action="decided", before=before, after=after, reason=reason, now=now)
    return True


def _pair(connection: Connection, scope_id: int, newer: UUID, older: UUID) -> tuple[UUID, UUID]:
    if newer == older:
        raise ValueError(f"memory {newer} can't contradict itself")
    found = set(
        connection.execute(
            select(Memory.id).where(Memory.scope_id == scope_id, Memory.id.in_([newer, older]))
        ).scalars()
    )
    if missing := {newer, older} - found:
        raise ValueError(f"not of this scope: memory {', '.join(sorted(str(memory) for memory in missing))}")
    return (newer, older) if newer < older else (older, newer)


def _require(connection: Connection, scope_id: int, memory: UUID | None, conflict: int | None) -> None:
    found = (
        select(Memory.id).where(Memory.scope_id == scope_id, Memory.id == memory)
        if memory is not None
        else select(MemoryConflict.id).where(MemoryConflict.scope_id == scope_id, MemoryConflict.id == conflict)
    )
    if connection.execute(found).first() is None:
        raise ValueError(f"not of this scope: {f'memory {memory}' if memory is not None else f'conflict {conflict}'}")


def _decided(author: Author, resolution: str, now: datetime) -> dict[str, Any]:
    return {"status": "resolved", "resolution": resolution, "decided_at": now, "decided_by": author.by}


def _known(
    connection: Connection,
    scope_id: int,
    pair: tuple[UUID, UUID],
    newer: UUID,
    resolution: str | None,
    author: Author,
    now: datetime,
) -> int | None:
    row = connection.execute(
        select(MemoryConflict.id, MemoryConflict.status)
        .where(
            MemoryConflict.scope_id == scope_id,
            MemoryConflict.memory_id == pair[0],
            MemoryConflict.conflicting_memory_id == pair[1],
        )
        .with_for_update()
    ).one()
    if row.status != "open":
        return None
    conflict: int = row.id
    if resolution is None:
        return conflict
    close_conflict(
        connection,
        scope_id,
        conflict,
        status="resolved",
        resolution=resolution,
        memory=newer,
        author=author,
        now=now,
    )
    asked = select(ReviewItem.id).where(
        ReviewItem.scope_id == scope_id, ReviewItem.conflict_id == conflict, ReviewItem.state == "open"
    )
    for item in connection.execute(asked).scalars().all():
        close_item(
            connection,
            scope_id,
            item,
            state="accepted",
            reason=resolution,
            memory=newer,
            author=author,
            now=now,
        )
    return conflict


def _contradicts(connection: Connection, newer: UUID, older: UUID, author: Author, now: datetime) -> None:
    add_link(connection, newer, older, "contradicts", confidence=1.0, author=author, now=now)


def add_link(
    connection: Connection,
    source: UUID,
    target: UUID,
    predicate: str,
    *,
    confidence: float,
    author: Author,
    now: datetime,
) -> bool:
    """Link two memories of one scope. False: the link is there."""
    statement = (
        upsert(MemoryLink)
        .values(
            source_id=source,
            target_id=target,
            predicate=predicate,
            confidence=confidence,
            run_id=author.run_id,
            created_at=now,
        )
        .on_conflict_do_nothing(index_elements=["source_id", "target_id", "predicate"])
    )
    return connection.execute(statement).rowcount == 1
