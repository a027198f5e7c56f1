"""Undo rows: links, triples, conflicts, questions, settled notes and memories that carry a run's number."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, insert, select, text

from slowwave_server.models import Memory, MemoryChange
from slowwave_server.services.memories.changes import Ledger
from slowwave_server.services.memories.merging import sync_copies
from slowwave_server.services.undo.saved import clear_columns, delete_rows

_CARRYING = (
    "memory_changes", "review_items", "memory_conflicts", "memory_links", "triples", "working_memory", "memory_imports",
    "day_summaries", "alias_changes", "undone_rows",
)  # fmt: skip
_LEFT = text(
    "SELECT "
    + " OR ".join(f"EXISTS (SELECT FROM slowwave.{table} x WHERE x.run_id = :run)" for table in _CARRYING)
    + " OR EXISTS (SELECT FROM slowwave.memory_links x WHERE x.ended_by = :run)"
)
_UNNOTE = "x.working_id IN (SELECT w.id FROM slowwave.working_memory w WHERE w.run_id = :run)"
_UNREAD = "x.run_id = :run AND x.via IS NULL"
# Memories of one import may refer to each other, which would prevent their deletion.
_UNEND = (
    "x.superseded_by IS NOT NULL AND x.id IN (SELECT c.memory_id FROM slowwave.memory_changes c"
    " JOIN slowwave.maintenance_runs r ON r.id = c.run_id"
    " WHERE r.id = :run AND r.kind = 'import' AND c.action = 'created')"
)
# A day keeps a summary that was made later from its events.
_NO_DAY = (
    "(x.agent_id, x.scope_id, x.day, x.version) = (:agent_id, :scope_id, CAST(:day AS date), :version) AND NOT EXISTS"
    " (SELECT FROM slowwave.day_summaries s WHERE (s.agent_id, s.scope_id, s.day) = (x.agent_id, x.scope_id, x.day))"
)

_SAID = text(
    " UNION ".join(
        f"SELECT x.memory_id FROM slowwave.{table} x WHERE x.memory_id = ANY(:memories) AND x.via IS NULL"
        for table in ("memory_sources", "memory_notes", "memory_imports")
    )
)
_COPIED_ON = text(
    " UNION ".join(
        f"SELECT x.via AS id FROM slowwave.{table} x WHERE x.via = ANY(:memories)"
        for table in ("memory_sources", "memory_notes", "memory_imports")
    )
    + " UNION SELECT m.id FROM slowwave.memories m WHERE m.id = ANY(:memories) AND m.merged_into IS NOT NULL"
    " ORDER BY id"
)
_WEIGH = text("SELECT slowwave.score_memory(m.id, :now) FROM unnest(CAST(:memories AS uuid[])) AS m (id)")


@dataclass(frozen=True, slots=True)
class Removed:
    """The numbers of removed rows that a run had added. conflicts, questions: the ids of the removed ones."""

    links: int
    triples: int
    conflicts: frozenset[int]
    questions: frozenset[int]


def remove_rows(connection: Connection, run_id: int, undo: int) -> Removed:
    """Delete the rows that the run added, and reopen the links that the run ended."""
    questions = delete_rows(connection, undo, "review_items", "x.run_id = :run", run=run_id)
    conflicts = delete_rows(connection, undo, "memory_conflicts", "x.run_id = :run", run=run_id)
    links = delete_rows(connection, undo, "memory_links", "x.run_id = :run", run=run_id)
    clear_columns(connection, undo, "memory_links", "x.ended_by = :run", run=run_id)
    triples = delete_rows(connection, undo, "triples", "x.run_id = :run", run=run_id)
    return Removed(
        len(links),
        len(triples),
        frozenset(int(row["id"]) for row in conflicts),
        frozenset(int(row["id"]) for row in questions),
    )


def reopen_items(connection: Connection, run_id: int, undo: int) -> tuple[int, set[UUID]]:
    """Reopen the notes that the run settled. Return their number, and the memories that had these notes as sources."""
    noted = {UUID(row["memory_id"]) for row in delete_rows(connection, undo, "memory_notes", _UNNOTE, run=run_id)}
    reopened = clear_columns(connection, undo, "working_memory", "x.run_id = :run", run=run_id)
    return reopened, noted


def unread(connection: Connection, run_id: int, undo: int) -> tuple[int, set[UUID]]:
    """Delete sources that the run read from files. Return the number of days, and the memories with these sources.

    The caller updates the copies at the survivors (services.memories.merging.sync_copies).
    """
    clear_columns(connection, undo, "memories", _UNEND, run=run_id)
    rested = {UUID(row["memory_id"]) for row in delete_rows(connection, undo, "memory_imports", _UNREAD, run=run_id)}
    days = delete_rows(connection, undo, "day_summaries", "x.run_id = :run", run=run_id)
    for row in days:
        day = {name: row[name] for name in ("agent_id", "scope_id", "day", "version")}
        delete_rows(connection, undo, "days", _NO_DAY, **day)
    return len(days), rested


def weigh_all(connection: Connection, memories: Collection[UUID], now: datetime) -> None:
    """Score memories that lost evidence again, in the common lock order."""
    connection.execute(_WEIGH, {"memories": sorted(memories), "now": now})


def remove_made(ledger: Ledger, memories: Sequence[UUID], *, undo: int, reason: str) -> set[UUID]:
    """Delete memories that the run had made, and return them. A memory with evidence of later flushes stays.

    The changes of a deleted memory stay, and the last one has its values.
    """
    said = {"memories": list(memories)}
    kept = set(ledger.connection.execute(_SAID, said).scalars())
    gone = [memory for memory in memories if memory not in kept]
    values = {"memories": gone}
    found = {row["id"]: row for row in ledger.connection.execute(select(Memory).where(Memory.id.in_(gone))).mappings()}
    # Delete copies of their evidence first: no query finds them after the memories are deleted.
    for memory in ledger.connection.execute(_COPIED_ON, values).scalars().all():
        sync_copies(ledger.connection, memory, ledger.now)
    _note_all(ledger, [(memory, _remembered(found[memory]), None) for memory in gone], reason)
    for table in ("memory_blocks", "memory_sources", "memory_notes", "memory_imports", "triples"):
        delete_rows(ledger.connection, undo, table, "x.memory_id = ANY(:memories)", **values)
    delete_rows(ledger.connection, undo, "memories", "x.id = ANY(:memories)", **values)
    return set(gone)


def return_made(ledger: Ledger, memories: Sequence[UUID], *, reason: str) -> None:
    """Record the return of memories that an undo had removed (services.undo.saved has written their rows back)."""
    query = select(Memory).where(Memory.id.in_(memories))
    found = {row["id"]: row for row in ledger.connection.execute(query).mappings()}
    _note_all(ledger, [(memory, None, _remembered(found[memory])) for memory in memories], reason)


def _note_all(
    ledger: Ledger, changes: Sequence[tuple[UUID, dict[str, Any] | None, dict[str, Any] | None]], reason: str
) -> None:
    """Store a change (memory, before, after) of each memory, in this order."""
    same = {
        "run_id": ledger.author.run_id,
        "made_by": ledger.author.by,
        "action": "undone",
        "reason": reason,
        "made_at": ledger.now,
    }
    rows = [{"memory_id": memory, "before": before, "after": after, **same} for memory, before, after in changes]
    if rows:
        ledger.connection.execute(insert(MemoryChange), rows)


def _remembered(row: Any) -> dict[str, Any]:
    moments = {name: row[name].isoformat() for name in ("valid_from", "reaffirmed_at", "recorded_at")}
    plain = {name: row[name] for name in ("content", "type", "status", "confidence", "importance", "trust")}
    return plain | moments | {"entities": list(row["entities"]), "scope_id": row["scope_id"]}


def is_empty(connection: Connection, run_id: int) -> bool:
    """Return True if the run changed no memory and added no row."""
    return not bool(connection.execute(_LEFT, {"run": run_id}).scalar())
