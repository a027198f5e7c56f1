"""Undo, the rows: links, triples, conflicts, questions, settled items and memories that carry a run's number.

Must not know: whether that may be done (services.undo.checks).
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, select, text

from slowwave_server.models import Memory, MemoryImport, MemoryNote, MemorySource
from slowwave_server.services.memories.changes import Author, note_change, weigh
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
# Memories of one import may point at each other, and would keep each other from being deleted.
_UNEND = (
    "x.superseded_by IS NOT NULL AND x.id IN (SELECT c.memory_id FROM slowwave.memory_changes c"
    " JOIN slowwave.maintenance_runs r ON r.id = c.run_id"
    " WHERE r.id = :run AND r.kind = 'import' AND c.action = 'created')"
)
# A day that has got a summary of its own since keeps it.
_NO_DAY = (
    "(x.agent_id, x.scope_id, x.day, x.version) = (:agent_id, :scope_id, CAST(:day AS date), :version) AND NOT EXISTS"
    " (SELECT FROM slowwave.day_summaries s WHERE (s.agent_id, s.scope_id, s.day) = (x.agent_id, x.scope_id, x.day))"
)


@dataclass(frozen=True, slots=True)
class Removed:
    """Rows that a run had added. conflicts, questions: the numbers of those that went."""

    links: int
    triples: int
    conflicts: frozenset[int]
    questions: frozenset[int]


def remove_rows(connection: Connection, run_id: int, undo: int) -> Removed:
    """Delete what carries the run's number, and let links that it ended stand again."""
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
    """Put what the run settled back into working memory; answer how many, and the memories that had rested on them."""
    noted = {UUID(row["memory_id"]) for row in delete_rows(connection, undo, "memory_notes", _UNNOTE, run=run_id)}
    reopened = clear_columns(connection, undo, "working_memory", "x.run_id = :run", run=run_id)
    return reopened, noted


def unread(connection: Connection, run_id: int, undo: int) -> tuple[int, set[UUID]]:
    """Delete sources that the run read from files; return the number of days, and the memories with these sources.

    The caller updates the copies at the memories that they were merged into (services.memories.merging.sync_copies).
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
    for memory in sorted(memories):
        weigh(connection, memory, now)


def remove_made(connection: Connection, memory: UUID, *, undo: int, author: Author, reason: str, now: datetime) -> bool:
    """Delete a memory that the run had made. False: somebody has said it since, and it stays, on that evidence alone.

    Its changes stay, and the last one holds its values.
    """
    said = select(MemorySource.memory_id).where(MemorySource.memory_id == memory, MemorySource.via.is_(None))
    noted = select(MemoryNote.memory_id).where(MemoryNote.memory_id == memory, MemoryNote.via.is_(None))
    read = select(MemoryImport.memory_id).where(MemoryImport.memory_id == memory, MemoryImport.via.is_(None))
    if connection.execute(said.union(noted, read)).first() is not None:
        return False
    row = connection.execute(select(Memory).where(Memory.id == memory)).mappings().one()
    # Copies of what it knew go first: nothing would find them once it is gone.
    sync_copies(connection, memory, now)
    before = _remembered(row)
    note_change(connection, memory, author=author, action="undone", before=before, after=None, reason=reason, now=now)
    for table in ("memory_blocks", "memory_sources", "memory_notes", "memory_imports", "triples"):
        delete_rows(connection, undo, table, "x.memory_id = :memory", memory=memory)
    delete_rows(connection, undo, "memories", "x.id = :memory", memory=memory)
    return True


def return_made(connection: Connection, memory: UUID, *, author: Author, reason: str, now: datetime) -> None:
    """Note that a memory which an undo had removed is there again (services.undo.saved wrote its row back)."""
    row = connection.execute(select(Memory).where(Memory.id == memory)).mappings().one()
    after = _remembered(row)
    note_change(connection, memory, author=author, action="undone", before=None, after=after, reason=reason, now=now)


def _remembered(row: Any) -> dict[str, Any]:
    moments = {name: row[name].isoformat() for name in ("valid_from", "reaffirmed_at", "recorded_at")}
    plain = {name: row[name] for name in ("content", "type", "status", "confidence", "importance", "trust")}
    return plain | moments | {"entities": list(row["entities"]), "scope_id": row["scope_id"]}


def is_empty(connection: Connection, run_id: int) -> bool:
    """Whether a run changed no memory, and no row carries its number."""
    return not bool(connection.execute(_LEFT, {"run": run_id}).scalar())
