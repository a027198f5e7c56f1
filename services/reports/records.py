"""Read memories for programs: every field, the source events, and the current status."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, func, select

from slowwave.memory_records import MemorySource
from slowwave_server.models import Memory, Scope
from slowwave_server.models.base import columns_of
from slowwave_server.services.access.reach import Reach
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memories.use_counts import UseCounts, count_uses
from slowwave_server.services.reports.memories import ListedMemory, sources_of


@dataclass(frozen=True, slots=True)
class Record:
    """One memory. scope: "agent:NAME", "room:NAME" or "team:NAME". sources: the first of its `source_count` source
    events.

    confidence, importance: numbers from 0 to 1; learned_importance: the importance after the gain or loss from its use.
    shown, used: the number of conversations in which a context showed it, or a reply used it, including memories merged
    into it. valid_to: None while it is valid. At an earlier `known_at`, later values are None: recorded_at of a deleted
    memory, superseded_by, merged_into, archive_reason and revision.
    """

    id: UUID
    scope: str
    type: str
    status: str
    content: str
    confidence: float
    importance: float
    trust: str
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime | None
    superseded_by: UUID | None
    merged_into: UUID | None
    archive_reason: str | None
    revision: int | None
    source_count: int
    sources: tuple[MemorySource, ...]
    shown: int
    used: int
    last_used_at: datetime | None
    learned_importance: float


_NOW = (
    *columns_of(Memory, Record),
    func.slowwave.learned_importance(Memory.importance, Memory.use_gain).label("learned_importance"),
)


_LISTED = tuple(one.name for one in fields(ListedMemory) if one.name in Record.__dataclass_fields__)


def read_record(connection: Connection, tenant: str, memory: UUID, reach: Reach) -> Record:
    """Return one memory of `tenant` within reach, also an archived one. All others raise the same UnknownName."""
    found = _current(connection, tenant, [memory], reach)
    if not found:
        raise UnknownName(f"there is no memory {memory}")
    return found[memory]


def as_records(
    connection: Connection, tenant: str, scope: str, listed: Sequence[ListedMemory], *, then: bool
) -> list[Record]:
    """Convert listed memories of one scope. then: the state at another time, or None."""
    current = _current(connection, tenant, [one.id for one in listed])
    if not then:
        return [current[one.id] for one in listed if one.id in current]
    return [_as_known(one, scope, current.get(one.id)) for one in listed]


def _current(
    connection: Connection, tenant: str, memories: Sequence[UUID], reach: Reach | None = None
) -> dict[UUID, Record]:
    scope = Scope.kind.concat(":").concat(Scope.name).label("scope")
    query = select(*_NOW, scope).join(Scope, Scope.id == Memory.scope_id)
    query = query.where(Scope.tenant == tenant, Memory.id.in_(memories))
    if reach is not None:
        query = query.where(reach.scopes_condition())
    rows = connection.execute(query).mappings().all()
    found = [row["id"] for row in rows]
    counts, sources = sources_of(connection, tenant, found)
    uses = count_uses(connection, found)
    return {
        row["id"]: Record(
            **row,
            source_count=counts[row["id"]],
            sources=tuple(sources[row["id"]]),
            **uses.get(row["id"], UseCounts())._asdict(),
        )
        for row in rows
    }


def _as_known(listed: ListedMemory, scope: str, current: Record | None) -> Record:
    same = {name: getattr(listed, name) for name in _LISTED}
    later: dict[str, Any] = dict.fromkeys(("superseded_by", "merged_into", "archive_reason", "revision"))
    if current is not None:
        return replace(current, **same, **later)
    never: dict[str, Any] = {"recorded_at": None, "last_used_at": None, "shown": 0, "used": 0}
    return Record(**same, **later, **never, scope=scope, learned_importance=listed.importance)
