"""List conflicts for people: both sides, the decision, and the open question."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from slowwave_server.domain.review import ConflictStatus, newer_first
from slowwave_server.models.driver import Reads, read_rows
from slowwave_server.services.review.conflict_sides import Side, read_sides

_PLAIN = ("id", "status", "reason", "evidence", "resolution", "decided_at", "decided_by")
_CONFLICTS = (
    "SELECT c.*, k.kind AS scope_kind, k.name AS scope_name FROM slowwave.memory_conflicts c"
    " JOIN slowwave.scopes k ON k.id = c.scope_id WHERE k.tenant = %(tenant)s AND {} ORDER BY c.id DESC LIMIT %(limit)s"
)
_ASKED = (
    "SELECT id, conflict_id, memory_id FROM slowwave.review_items WHERE state = 'open'"
    " AND (conflict_id = ANY(%(conflicts)s) OR memory_id = ANY(%(memories)s))"
)


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
    connection: Reads,
    tenant: str,
    *,
    scope: tuple[str, str] | None = None,
    status: ConflictStatus | None = "open",
    limit: int = 50,
) -> list[ListedConflict]:
    """List the newest conflicts. scope: ("agent", "room" or "team", name); status: None for any."""
    wanted = ["true"]
    if scope is not None:
        wanted.append("k.kind = %(kind)s AND k.name = %(name)s")
    if status is not None:
        wanted.append("c.status = %(status)s")
    kind, name = scope or (None, None)
    values = {"kind": kind, "name": name, "status": status}
    return read_conflicts(connection, tenant, " AND ".join(wanted), values, limit=limit)


def read_conflicts(
    connection: Reads, tenant: str, wanted: str, values: Mapping[str, Any], *, limit: int
) -> list[ListedConflict]:
    """Return the newest conflicts that match `wanted`: SQL about the conflict `c` and its scope `k`, with `values`."""
    rows = read_rows(connection, _CONFLICTS.format(wanted), {**values, "tenant": tenant, "limit": limit})
    return _with_sides(connection, tenant, rows)


def _with_sides(connection: Reads, tenant: str, rows: Sequence[Any]) -> list[ListedConflict]:
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


def _asked(connection: Reads, conflicts: Iterable[int], memories: Iterable[UUID]) -> dict[int | UUID, int]:
    """Return the open question about each of these conflicts and memories, if one exists."""
    values = {"conflicts": list(conflicts), "memories": list(memories)}
    return {row["conflict_id"] or row["memory_id"]: row["id"] for row in read_rows(connection, _ASKED, values)}
