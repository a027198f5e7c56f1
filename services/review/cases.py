"""Read cases: the memories of a question or conflict, with their open conflicts and questions."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, bindparam, func, or_, select, text
from sqlalchemy.orm import aliased

from slowwave_server.domain.review import ReviewedMemory
from slowwave_server.models import Memory, MemoryConflict, ReviewItem, Scope
from slowwave_server.services.review.decision import Kind

# Only one decision runs in a scope at a time: if two people answer one question, the second sees the first decision.
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('slowwave inbox ' || :scope, 0))")
_BEFORE_REVIEW = text(
    "SELECT DISTINCT ON (c.memory_id) c.memory_id, c.before ->> 'status' AS status FROM slowwave.memory_changes c"
    " WHERE c.memory_id = ANY(:ids) AND c.after ->> 'status' = 'review' AND c.before ? 'status'"
    " ORDER BY c.memory_id, c.id DESC"
)
_READ = (
    *("id", "status", "trust", "importance", "valid_from", "reaffirmed_at", "valid_to", "superseded_by"),
    *("revision", "content"),
)
_READABLE = frozenset({"inbox", "episode", "active"})


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """An open conflict with its current sides (of a merged memory its survivor). pair: where it was noticed."""

    id: int
    a: ReviewedMemory
    b: ReviewedMemory
    pair: tuple[UUID, UUID]

    def other(self, memory: UUID) -> ReviewedMemory:
        return self.b if self.a.id == memory else self.a


@dataclass(frozen=True, slots=True)
class Case:
    """The subject of a decision. memory: the memory of the question; None for a question about a conflict.

    closed: the earlier decision in words; None while it is open. conflicts: its open conflicts.
    """

    scope_id: int
    item: int | None
    memory: ReviewedMemory | None
    conflicts: tuple[OpenConflict, ...]
    closed: str | None = None


def revisions(case: Case) -> dict[UUID, int]:
    """Return the current memories of a case and their revisions; a decision refers to exactly these."""
    concerned = [side for conflict in case.conflicts for side in (conflict.a, conflict.b)]
    concerned += [case.memory] if case.memory is not None else []
    return {statement.id: statement.revision for statement in concerned}


def scopes_of(connection: Connection, tenant: str, kind: Kind, numbers: Iterable[int]) -> dict[int, int]:
    """Return the scope of each question or conflict of `tenant`; those of other tenants are missing (I8)."""
    table = ReviewItem if kind == "item" else MemoryConflict
    query = (
        select(table.id, table.scope_id)
        .join(Scope, Scope.id == table.scope_id)
        .where(Scope.tenant == tenant, table.id.in_(bindparam("numbers", expanding=True)))
    )
    return {row.id: row.scope_id for row in connection.execute(query, {"numbers": list(numbers)})}


def lock_scopes(connection: Connection, scopes: Iterable[int]) -> None:
    """Lock scopes against other decisions until the transaction ends, in a fixed order to avoid deadlocks."""
    for scope_id in sorted(set(scopes)):
        connection.execute(_LOCK, {"scope": str(scope_id)})


def item_case(connection: Connection, scope_id: int, item: int) -> Case:
    """Return the case of a question. A caller that decides it must hold the scope's lock."""
    row = connection.execute(select(ReviewItem).where(ReviewItem.scope_id == scope_id, ReviewItem.id == item)).one()
    if row.state != "open":
        return Case(scope_id, item, None, (), _closed(f"question {item}", row.state, row))
    if row.conflict_id is not None:
        return conflict_case(connection, scope_id, row.conflict_id, item)
    memory = statements(connection, scope_id, [row.memory_id])[row.memory_id]
    return Case(scope_id, item, memory, open_conflicts(connection, scope_id, row.memory_id))


def conflict_case(connection: Connection, scope_id: int, conflict: int, item: int | None = None) -> Case:
    """Return the case of a conflict. A caller that decides it must hold the scope's lock."""
    row = connection.execute(
        select(MemoryConflict).where(MemoryConflict.scope_id == scope_id, MemoryConflict.id == conflict)
    ).one()
    if row.status != "open":
        return Case(scope_id, item, None, (), _closed(f"conflict {conflict}", row.status, row))
    return Case(scope_id, item, None, _conflicts(connection, scope_id, [row]))


def open_conflicts(connection: Connection, scope_id: int, memory: UUID) -> tuple[OpenConflict, ...]:
    """Return the open conflicts of a memory, oldest first."""
    sides = or_(MemoryConflict.memory_id == memory, MemoryConflict.conflicting_memory_id == memory)
    query = select(MemoryConflict).where(MemoryConflict.scope_id == scope_id, MemoryConflict.status == "open", sides)
    return _conflicts(connection, scope_id, connection.execute(query.order_by(MemoryConflict.id)).all())


def open_items(
    connection: Connection, scope_id: int, *, memory: UUID | None = None, conflict: int | None = None
) -> list[int]:
    """Return the open questions about a memory or a conflict."""
    about = ReviewItem.memory_id == memory if conflict is None else ReviewItem.conflict_id == conflict
    query = select(ReviewItem.id).where(ReviewItem.scope_id == scope_id, ReviewItem.state == "open", about)
    return list(connection.execute(query).scalars())


def statements(connection: Connection, scope_id: int, ids: Iterable[UUID]) -> dict[UUID, ReviewedMemory]:
    """Return the current memory for each id of the scope: the survivor of a merged one, else the memory itself."""
    head = aliased(Memory)
    query = (
        select(Memory.id.label("asked"), *(getattr(head, name) for name in _READ))
        .join(head, head.id == func.coalesce(Memory.merged_into, Memory.id))
        .where(Memory.scope_id == scope_id, head.scope_id == scope_id, Memory.id.in_(list(ids)))
    )
    rows = connection.execute(query).mappings().all()
    before = {
        row.memory_id: row.status
        for row in connection.execute(_BEFORE_REVIEW, {"ids": [row["id"] for row in rows]})
        if row.status in _READABLE
    }
    return {
        row["asked"]: ReviewedMemory(
            **{name: row[name] for name in _READ}, before_review=before.get(row["id"], "inbox")
        )
        for row in rows
    }


def _conflicts(connection: Connection, scope_id: int, rows: Iterable[Row[Any]]) -> tuple[OpenConflict, ...]:
    rows = list(rows)
    found = statements(
        connection, scope_id, {end for row in rows for end in (row.memory_id, row.conflicting_memory_id)}
    )
    return tuple(
        OpenConflict(
            row.id,
            found[row.memory_id],
            found[row.conflicting_memory_id],
            (row.memory_id, row.conflicting_memory_id),
        )
        for row in rows
    )


def _closed(what: str, state: str, row: Row[Any]) -> str:
    at: datetime | None = row.decided_at
    by = "" if row.decided_by is None else f" by {row.decided_by}"
    return f"{what} was {state} already{by}" + ("" if at is None else f", {at:%Y-%m-%d %H:%M:%S} UTC")
