"""The state of a scope at a time: memories recorded by then, with later decisions reverted.

Decided fields are restored from the changes since; confidence and other scores are computed again from the evidence
recorded by then. Memories without later changes are returned in their present state.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, func, literal, or_, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Uuid

from slowwave.errors import InvalidQuery
from slowwave_server.domain.evidence import EvidenceItem, gathered, weighed
from slowwave_server.models import (
    Flush,
    MaintenanceRun,
    Memory,
    MemoryChange,
    MemoryImport,
    MemoryNote,
    MemorySource,
    Session,
    WorkingItem,
)
from slowwave_server.services.memories.changed_fields import DECIDED, field_value, of_fields
from slowwave_server.services.reports.scope_as_of import ScopeAsOf

_COLUMNS = ("id", "type", "status", "content", "confidence", "importance", "trust", "valid_from", "valid_to")
_MOMENTS = ("valid_from", "reaffirmed_at", "recorded_at")


def read_as_of(
    connection: Connection, scope_id: int, moment: datetime, *, with_sources: bool = False, most: int | None = None
) -> ScopeAsOf:
    """Return the memories that changed after `moment`, in their state at `moment`.

    with_sources: True to return the sources at `moment` also for memories of which only decided fields changed;
    otherwise these keep their current sources. most: the highest number of later changes; more raise InvalidQuery,
    because each takes time.
    """
    changes = _changes_since(connection, scope_id, moment, most)
    if most is not None and len(changes) > most:
        raise InvalidQuery(
            f"known_at: more than {most:,} changes were made since {moment:%Y-%m-%d %H:%M}, too many to take off"
            " in one request; use a later time, or `slowwave memory list AGENT --known-at`, which has no such limit"
        )
    was = _decided_then(changes)
    mentioned = {UUID(value) for change in changes for value in _survivors(change)}
    touched = {change.memory_id for change in changes} | mentioned
    memories = _rows(connection, scope_id, touched) | _gone(changes, scope_id)
    for memory, row in memories.items():
        row.update(was.get(memory, {}))
    away = _away(changes)
    known = {memory: row for memory, row in memories.items() if row["recorded_at"] <= moment and memory not in away}
    decided = set() if with_sources else _decided_alone(changes) - mentioned
    heard = {memory: row for memory, row in known.items() if memory not in decided}
    parts = _parts_then(connection, scope_id, heard, known, touched)
    evidence = _evidence_then(connection, {*heard, *(part for ids in parts.values() for part in ids)}, moment)
    then = ScopeAsOf(touched)
    then.rows.extend({name: row[name] for name in _COLUMNS} for memory, row in known.items() if memory in decided)
    for memory, row in heard.items():
        said = gathered(evidence[memory], (evidence[part] for part in parts[memory]))
        if (own := weighed(said)) is not None:
            row.update({name: getattr(own, name) for name in ("confidence", "importance", "trust", "valid_from")})
        then.rows.append({name: row[name] for name in _COLUMNS})
        then.sources[memory] = sorted(one.event for one in said if one.event is not None)
    return then


def _changes_since(
    connection: Connection, scope_id: int, moment: datetime, most: int | None
) -> list[Row[*tuple[Any, ...]]]:
    """Return the later changes of the scope's memories, oldest first, including those of deleted memories.

    most: if there are more, the result has `most` + 1 arbitrary ones. Changes of memories recorded later are skipped; a
    merge is also noted at its survivor. So a moment long ago costs no more than a recent one.
    """
    taken = select(MemoryChange.memory_id).where(
        MemoryChange.action == "undone", MemoryChange.before["scope_id"].as_integer() == scope_id
    )
    known = (Memory.scope_id == scope_id) & (Memory.recorded_at <= moment)
    # Start from the changes, of which most moments have few, and join their memories; for a union, the planner would
    # begin with all memories.
    query = (
        select(MemoryChange.id, MemoryChange.memory_id, MemoryChange.action, MemoryChange.before, MemoryChange.after)
        .join(Memory, Memory.id == MemoryChange.memory_id, isouter=True)
        .where(MemoryChange.made_at > moment, or_(known, MemoryChange.memory_id.in_(taken)))
        .limit(None if most is None else most + 1)
    )
    # Sort here: to get the first few in order, the database would read all changes.
    return sorted(connection.execute(query), key=lambda change: change.id)


def _decided_then(changes: Iterable[Row[*tuple[Any, ...]]]) -> dict[UUID, dict[str, Any]]:
    """Return the old values of the fields that changed later, by memory: the first change has them."""
    was: dict[UUID, dict[str, Any]] = defaultdict(dict)
    for change in changes:
        if of_fields(change.before, change.after):
            for name, value in change.before.items():
                was[change.memory_id].setdefault(name, field_value(name, value))
    return was


def _decided_alone(changes: Iterable[Row[*tuple[Any, ...]]]) -> set[UUID]:
    """Return memories of which only decided fields changed: no evidence was added or removed, and none was merged."""
    plain: set[UUID] = set()
    others: set[UUID] = set()
    for change in changes:
        alone = of_fields(change.before, change.after) and "merged_into" not in change.before
        (plain if alone else others).add(change.memory_id)
    return plain - others


def _survivors(change: Row[*tuple[Any, ...]]) -> list[str]:
    if not of_fields(change.before, change.after):
        return []
    both = (change.before.get("merged_into"), change.after.get("merged_into"))
    return [value for value in both if value is not None]


def _rows(connection: Connection, scope_id: int, memories: set[UUID]) -> dict[UUID, dict[str, Any]]:
    names = dict.fromkeys((*_COLUMNS, *DECIDED, "recorded_at", "content_hash"))
    query = select(*(getattr(Memory, name) for name in names)).where(Memory.scope_id == scope_id, _among(memories))
    return {row["id"]: dict(row) for row in connection.execute(query).mappings()}


def _gone(changes: Iterable[Row[*tuple[Any, ...]]], scope_id: int) -> dict[UUID, dict[str, Any]]:
    """Return memories that an undo has deleted since; its change has their values."""
    gone: dict[UUID, dict[str, Any]] = {}
    for change in changes:
        before: Mapping[str, Any] = change.before or {}
        if change.action == "undone" and before.get("scope_id") == scope_id:
            moments = {name: datetime.fromisoformat(before[name]) for name in _MOMENTS}
            nothing = dict.fromkeys(("valid_to", "superseded_by", "merged_into", "archive_reason"))
            gone[change.memory_id] = {**before, **moments, **nothing, "id": change.memory_id, "content_hash": b""}
    return gone


def _away(changes: Iterable[Row[*tuple[Any, ...]]]) -> set[UUID]:
    """Return memories that an undo had removed by then, and that exist again because the undo was undone."""
    first: dict[UUID, bool] = {}
    for change in changes:
        if change.action == "undone":
            removed, returned = ("recorded_at" in (side or {}) for side in (change.before, change.after))
            if removed or returned:
                first.setdefault(change.memory_id, returned)
    return {memory for memory, returned in first.items() if returned}


def _parts_then(
    connection: Connection,
    scope_id: int,
    survivors: Collection[UUID],
    known: Mapping[UUID, Mapping[str, Any]],
    touched: set[UUID],
) -> dict[UUID, list[UUID]]:
    """Return the memories merged into each of `survivors`, in the order of copying."""
    if not survivors:
        return {}
    query = select(Memory.id, Memory.merged_into, Memory.content_hash).where(
        Memory.scope_id == scope_id,
        Memory.merged_into == func.any(literal(list(survivors), ARRAY(Uuid))),
        ~_among(touched),
    )
    merged = [(row.content_hash, row.id, row.merged_into) for row in connection.execute(query)]
    merged += [
        (row["content_hash"], memory, row["merged_into"])
        for memory, row in known.items()
        if row["merged_into"] in survivors
    ]
    parts: dict[UUID, list[UUID]] = defaultdict(list)
    for _, part, survivor in sorted(merged):
        parts[survivor].append(part)
    return parts


def _evidence_then(connection: Connection, memories: set[UUID], moment: datetime) -> dict[UUID, list[EvidenceItem]]:
    """Return the evidence of each memory itself, flushed or settled by then."""
    if not memories:
        return {}
    found: dict[UUID, list[EvidenceItem]] = defaultdict(list)
    flushed = (
        select(Flush.id)
        .where(
            Flush.session_id == MemorySource.session_id,
            Flush.from_seq <= MemorySource.seq,
            Flush.to_seq >= MemorySource.seq,
            Flush.committed_at <= moment,
        )
        .exists()
    )
    said = select(MemorySource).where(
        MemorySource.memory_id == func.any(literal(list(memories), ARRAY(Uuid))), MemorySource.via.is_(None), flushed
    )
    for row in connection.execute(said).mappings():
        event = (row["session_id"], row["seq"])
        found[row["memory_id"]].append(_said(row, ("event", *event), str(row["session_id"]), event))
    for memory, note in _notes_then(connection, memories, moment):
        found[memory].append(note)
    for memory, line in _lines_then(connection, memories, moment):
        found[memory].append(line)
    return found


def _notes_then(connection: Connection, memories: set[UUID], moment: datetime) -> Iterator[tuple[UUID, EvidenceItem]]:
    """Return evidence from agents' notes that were settled by then."""
    noted = (
        select(
            MemoryNote.memory_id, MemoryNote.working_id, MemoryNote.confidence, MemoryNote.importance, MemoryNote.trust,
            MemoryNote.holds_from, Session.id.label("session_id"), WorkingItem.session,
        )
        .join(WorkingItem, WorkingItem.id == MemoryNote.working_id)
        .join(
            Session,
            (Session.agent_id == WorkingItem.agent_id) & (Session.name == WorkingItem.session),
            isouter=True,
        )
        .where(
            MemoryNote.memory_id == func.any(literal(list(memories), ARRAY(Uuid))),
            MemoryNote.via.is_(None),
            WorkingItem.settled_at <= moment,
        )
    )  # fmt: skip
    for row in connection.execute(noted).mappings():
        witness = str(row["session_id"]) if row["session_id"] else f"noted {row['session'] or ''}"
        yield row["memory_id"], _said(row, ("note", row["working_id"]), witness)


def _lines_then(connection: Connection, memories: set[UUID], moment: datetime) -> Iterator[tuple[UUID, EvidenceItem]]:
    """Return evidence from lines of files that were read by then."""
    read = (
        select(MemoryImport)
        .join(MaintenanceRun, MaintenanceRun.id == MemoryImport.run_id, isouter=True)
        .where(
            MemoryImport.memory_id == func.any(literal(list(memories), ARRAY(Uuid))),
            MemoryImport.via.is_(None),
            or_(MemoryImport.run_id.is_(None), MaintenanceRun.started_at <= moment),
        )
    )
    for row in connection.execute(read).mappings():
        line = _said(row, ("line", row["digest"]), f"read {row['trust']}")
        yield row["memory_id"], replace(line, last_from=row["reaffirmed_at"])


def _said(row: Any, key: tuple[object, ...], witness: str, event: tuple[int, int] | None = None) -> EvidenceItem:
    return EvidenceItem(key, witness, row["confidence"], row["importance"], row["trust"], row["holds_from"], event)


def _among(memories: set[UUID]) -> Any:
    # One array, whatever its length, because the number of parameters is limited.
    return Memory.id == func.any(literal(list(memories), ARRAY(Uuid)))
