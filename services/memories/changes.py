"""Change a memory by compare-and-swap on its revision, and store a row with the old value, the new one and the reason.

Every change by a run or a person goes through this module, so that it can be explained and undone (I6).

Only flushes store memories in another way: by a function of the database.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Select, Update, Uuid, any_, bindparam, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY, insert

from slowwave_server.domain.changes import ChangeLine
from slowwave_server.domain.languages import detect
from slowwave_server.domain.profile import profile_json
from slowwave_server.domain.statements import content_hash
from slowwave_server.models import Memory, MemoryChange
from slowwave_server.services.memories.changed_fields import DECIDED

_REVECTOR = text(
    "UPDATE slowwave.memories m"
    " SET language = :language, profile = CAST(:profile AS jsonb), search ="
    " slowwave.memory_search_vector(m.scope_id, m.content, m.valid_from, m.entities, :language) WHERE m.id = :memory"
)
_WEIGH = text("SELECT slowwave.score_memory(:memory, :now)")
_NOTE = insert(MemoryChange)
_CHECKED = text("UPDATE slowwave.memories SET checked_at = :now WHERE id = ANY(:ids)")


class Stale(Exception):
    """A memory changed after it was read. Read it again and decide again."""


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a change: a run, and the one who started it, if known (by: a person's name, a host, "beat")."""

    run_id: int
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger of changes, in the caller's transaction: entries have this author and this time."""

    connection: Connection
    author: Author
    now: datetime


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A change of a memory at `revision`: it sets `fields` (of DECIDED)."""

    memory: UUID
    revision: int
    fields: Mapping[str, Any]
    action: str
    reason: str


def change_memories(ledger: Ledger, changes: Sequence[FieldChange]) -> None:
    """Make and store changes, each of another memory, in the caller's transaction. All set the same fields.

    Raises Stale if a memory is no longer at its revision, and ValueError for a field outside DECIDED.
    """
    if not changes:
        return
    names = tuple(changes[0].fields)
    if unknown := set(names) - set(DECIDED):
        raise ValueError(f"fields must be among {', '.join(DECIDED)}, not {', '.join(sorted(unknown))}")
    old_values, set_values = _statements(names)
    rows = ledger.connection.execute(old_values, {"ids": [one.memory for one in changes]}).mappings()
    known = {row["id"]: row for row in rows}
    notes = []
    for one in changes:
        row = known.pop(one.memory, None)
        if row is None or row["revision"] != one.revision:
            raise Stale(f"memory {one.memory} changed after it was read (revision {one.revision})")
        old = as_json({name: row[name] for name in names})
        notes.append(_note(ledger, one.memory, one.action, old, as_json(one.fields), one.reason))
    ledger.connection.execute(set_values, [_values(one) for one in changes])
    ledger.connection.execute(_NOTE, notes)


def change_memory(
    ledger: Ledger, memory: UUID, revision: int, fields: Mapping[str, Any], *, action: str, reason: str
) -> int:
    """Make and store one change (see `change_memories`). Return the new revision."""
    change_memories(ledger, [FieldChange(memory, revision, fields, action, reason)])
    if "content" in fields:
        kept = ledger.connection.execute(select(Memory.language, Memory.type).where(Memory.id == memory)).one()
        said = {
            "language": detect(fields["content"], kept.language),
            "profile": profile_json(fields["content"], kept.type),
        }
        ledger.connection.execute(_REVECTOR, {"memory": memory, **said})
    return revision + 1


def _values(change: FieldChange) -> dict[str, Any]:
    values = {**change.fields, "revision": change.revision + 1, "memory_id": change.memory}
    return values | ({"content_hash": content_hash(values["content"])} if "content" in values else {})


@cache  # few sets of fields; building a statement takes as long as executing it
def _statements(fields: tuple[str, ...]) -> tuple[Select[Any], Update]:
    """Return the statement that reads and locks these fields of memories, and the one that sets them."""
    old = select(Memory.id, Memory.revision, *(getattr(Memory, name) for name in fields))
    # Use a fixed order, so that two transactions that lock the same memories never deadlock.
    old = old.where(Memory.id == any_(bindparam("ids", type_=ARRAY(Uuid)))).order_by(Memory.id).with_for_update()
    written = [*fields, "revision", *(["content_hash"] if "content" in fields else [])]
    is_memory = Memory.id == bindparam("memory_id")
    return old, update(Memory).where(is_memory).values({name: bindparam(name) for name in written})


def note_change(
    ledger: Ledger,
    memory: UUID,
    *,
    action: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    reason: str,
) -> None:
    """Record a change in the ledger without an update of the memory's row.

    For changes of links, conflicts and sources: these are stored in tables of their own, not in the memory's row.
    """
    ledger.connection.execute(_NOTE, _note(ledger, memory, action, before, after, reason))


def _note(
    ledger: Ledger,
    memory: UUID,
    action: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    reason: str,
) -> dict[str, Any]:
    return {
        "memory_id": memory,
        "run_id": ledger.author.run_id,
        "made_by": ledger.author.by,
        "action": action,
        "before": None if before is None else dict(before),
        "after": None if after is None else dict(after),
        "reason": reason,
        "made_at": ledger.now,
    }


def changes_of_run(
    connection: Connection, run_id: int, *, scope_id: int | None = None, limit: int | None = None
) -> tuple[ChangeLine, ...]:
    """Return the changes of a run so far, in order, at most `limit`. scope_id: if given, only changes in this scope."""
    query = (
        select(
            MemoryChange.action,
            MemoryChange.memory_id,
            Memory.content,
            MemoryChange.before,
            MemoryChange.after,
            MemoryChange.reason,
        )
        .join(Memory, Memory.id == MemoryChange.memory_id)
        .where(MemoryChange.run_id == run_id)
        .order_by(MemoryChange.id)
        .limit(limit)
    )
    if scope_id is not None:
        query = query.where(Memory.scope_id == scope_id)
    return tuple(ChangeLine(*row) for row in connection.execute(query))


def weigh(connection: Connection, memory: UUID, now: datetime) -> bool:
    """Compute the fields of a memory that follow from its sources. Return True if any changed."""
    changed: bool = connection.execute(_WEIGH, {"memory": memory, "now": now}).scalar_one()
    return changed


def mark_checked(connection: Connection, memories: list[UUID], now: datetime) -> None:
    """Store the time at which a pass checked these memories: no change, no row, no new revision."""
    if memories:
        connection.execute(_CHECKED, {"ids": memories, "now": now})


def as_json(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields in the form that a change stores: times in ISO 8601, ids as text."""
    return {name: _plain(value) for name, value in fields.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value
