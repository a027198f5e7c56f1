"""List conflicts for people: both sides, the decision, and the open question."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, or_, select

from slowwave_server.domain.review import ConflictStatus, newer_first
from slowwave_server.models import MemoryConflict, ReviewItem, Scope
from slowwave_server.services.review.conflict_sides import Side, read_sides

_PLAIN = ("id", "status", "reason", "evidence", "resolution", "decided_at", "decided_by")


@dataclass(frozen=True, slots=True)
class ListedConflict:
    """One conflict. newer, older: its sides, by the time of their last statement. scope: `kind:name`.

    run: the pass that noticed it; question: the number of the open question about it, or None; resolution: the
    decision, in words.
    """

    id: int
    scope: str
    status: ConflictStatus
    reason: str
    evidence: dict[str, Any]
    resolution: str | None
    run: int | None
    noticed_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    question: int | None
    newer: Side
    older: Side


def list_conflicts(
    connection: Connection,
    tenant: str,
    *,
    scope: tuple[str, str] | None = None,
    status: ConflictStatus | None = "open",
    before: int | None = None,
    limit: int = 50,
) -> list[ListedConflict]:
    """List the newest conflicts of `tenant`. scope: ("agent", "room" or "team", name); status: None for any.

    before: only those with a smaller number.
    """
    wanted: list[ColumnElement[bool]] = []
    if before is not None:
        wanted.append(MemoryConflict.id < before)
    if scope is not None:
        wanted += [Scope.kind == scope[0], Scope.name == scope[1]]
    if status is not None:
        wanted.append(MemoryConflict.status == status)
    return read_conflicts(connection, tenant, *wanted, limit=limit)


def read_conflicts(
    connection: Connection, tenant: str, *wanted: ColumnElement[bool], limit: int
) -> list[ListedConflict]:
    """Return the conflicts of `tenant` that match all conditions of `wanted`, newest first."""
    columns = MemoryConflict.__table__.columns
    query = (
        select(*columns, Scope.kind.label("scope_kind"), Scope.name.label("scope_name"))
        .join(Scope, Scope.id == MemoryConflict.scope_id)
        .where(Scope.tenant == tenant, *wanted)
        .order_by(MemoryConflict.id.desc())
        .limit(limit)
    )
    rows = connection.execute(query).mappings().all()
    return _with_sides(connection, tenant, rows)


def _with_sides(connection: Connection, tenant: str, rows: Sequence[Any]) -> list[ListedConflict]:
    ends = {memory for row in rows for memory in (row["memory_id"], row["conflicting_memory_id"])}
    sides = read_sides(connection, tenant, ends)
    asked = _asked(connection, [row["id"] for row in rows], ends)
    listed = []
    for row in rows:
        newer, older = newer_first(sides[row["memory_id"]], sides[row["conflicting_memory_id"]])
        subjects = (row["id"], newer.id, older.id) if row["status"] == "open" else ()
        columns = {name: row[name] for name in _PLAIN}
        listed.append(
            ListedConflict(
                **columns,
                scope=f"{row['scope_kind']}:{row['scope_name']}",
                run=row["run_id"],
                noticed_at=row["created_at"],
                question=next((asked[subject] for subject in subjects if subject in asked), None),
                newer=newer,
                older=older,
            )
        )
    return listed


def _asked(connection: Connection, conflicts: Iterable[int], memories: Iterable[UUID]) -> dict[int | UUID, int]:
    """Return the open question about each of these conflicts and memories, if one exists."""
    query = select(ReviewItem.id, ReviewItem.conflict_id, ReviewItem.memory_id).where(
        ReviewItem.state == "open",
        or_(ReviewItem.conflict_id.in_(list(conflicts)), ReviewItem.memory_id.in_(list(memories))),
    )
    return {row.conflict_id or row.memory_id: row.id for row in connection.execute(query)}
