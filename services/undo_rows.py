"""Undo, the rows: links, triples, conflicts, questions, settled items and memories that carry a run's number.

Must not know: whether that may be done (services.undo_checks).
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, delete, or_, select, text, update

from slowwave_server.models import (
    Memory,
    MemoryBlock,
    MemoryConflict,
    MemoryImport,
    MemoryLink,
    MemoryNote,
    MemorySource,
    ReviewItem,
    Triple,
    WorkingItem,
)
from slowwave_server.services.memory_changes import Author, note_change, weigh
from slowwave_server.services.merging import sync_copies

_UNNOTE = text(
    "DELETE FROM slowwave.memory_notes n USING slowwave.working_memory w"
    " WHERE w.id = n.working_id AND w.run_id = :run RETURNING n.memory_id"
)
_UNREAD = text("DELETE FROM slowwave.memory_imports WHERE run_id = :run AND via IS NULL RETURNING memory_id")
# Memories of one import may point at each other, and would keep each other from being deleted.
_UNEND = text(
    "UPDATE slowwave.memories m SET superseded_by = NULL FROM slowwave.memory_changes c, slowwave.maintenance_runs r"
    " WHERE r.id = :run AND r.kind = 'import' AND c.run_id = r.id AND c.action = 'created' AND m.id = c.memory_id"
    " AND m.superseded_by IS NOT NULL"
)
_UNREAD_DAYS = text("DELETE FROM slowwave.day_summaries WHERE run_id = :run RETURNING agent_id, scope_id, day, version")
# A day that has got a summary of its own since keeps it.
_NO_DAY = text(
    "DELETE FROM slowwave.days y WHERE (y.agent_id, y.scope_id, y.day, y.version) = (:agent_id, :scope_id, :day,"
    " :version) AND NOT EXISTS (SELECT FROM slowwave.day_summaries s"
    "  WHERE (s.agent_id, s.scope_id, s.day) = (y.agent_id, y.scope_id, y.day))"
)
_REOPEN = (
    update(WorkingItem).values(outcome=None, settled_at=None, error=None, run_id=None).execution_options(
        synchronize_session=False
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Removed:
    """What a run had added. conflicts, questions: the numbers of those that went."""

    links: int
    triples: int
    conflicts: frozenset[int]
    questions: frozenset[int]


def remove_rows(connection: Connection, run_id: int) -> Removed:
    """Delete what carries the run's number, and let links that it ended stand again."""
    questions = connection.execute(delete(ReviewItem).where(ReviewItem.run_id == run_id).returning(ReviewItem.id))
    removed_questions = frozenset(questions.scalars())
    conflicts = connection.execute(
        delete(MemoryConflict).where(MemoryConflict.run_id == run_id).returning(MemoryConflict.id)
    )
    removed_conflicts = frozenset(conflicts.scalars())
    links = connection.execute(delete(MemoryLink).where(MemoryLink.run_id == run_id)).rowcount
    connection.execute(update(MemoryLink).where(MemoryLink.ended_by == run_id).values(ended_by=None))
    triples = connection.execute(delete(Triple).where(Triple.run_id == run_id)).rowcount
    return Removed(links, triples, removed_conflicts, removed_questions)


def reopen_items(connection: Connection, run_id: int) -> tuple[int, set[UUID]]:
    """Put what the run settled back into working memory; answer how many, and the memories that had rested on them."""
    noted = set(connection.execute(_UNNOTE, {"run": run_id}).scalars())
    reopened = connection.execute(_REOPEN.where(WorkingItem.run_id == run_id)).rowcount
    return reopened, noted


def unread(connection: Connection, run_id: int) -> set[UUID]:
    """Take away what the run had read from files, days' summaries included; answer the memories that rested on it.

    Copies of it with what those were merged into are the caller's to put right (services.merging.sync_copies).
    """
    connection.execute(_UNEND, {"run": run_id})
    rested = set(connection.execute(_UNREAD, {"run": run_id}).scalars())
    days = list(connection.execute(_UNREAD_DAYS, {"run": run_id}))
    for day in days:
        connection.execute(_NO_DAY, day._asdict())
    return rested


def weigh_all(connection: Connection, memories: Collection[UUID], now: datetime) -> None:
    """Weigh what has lost evidence, in the one order in which everybody does."""
    for memory in sorted(memories):
        weigh(connection, memory, now)


def remove_made(connection: Connection, memory: UUID, *, author: Author, reason: str, now: datetime) -> bool:
    """Delete a memory that the run had made. False: somebody has said it since, and it stays, on that evidence alone.

    Its changes stay, and the last tells what it was.
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
    for table in (MemoryBlock, MemorySource, MemoryNote, MemoryImport, Triple):
        connection.execute(delete(table).where(table.memory_id == memory))
    connection.execute(delete(Memory).where(Memory.id == memory))
    return True


def _remembered(row: Any) -> dict[str, Any]:
    moments = {name: row[name].isoformat() for name in ("valid_from", "reaffirmed_at", "recorded_at")}
    plain = {name: row[name] for name in ("content", "type", "status", "confidence", "importance", "trust")}
    return plain | moments | {"entities": list(row["entities"]), "scope_id": row["scope_id"]}


def made_by_others(connection: Connection, run_id: int, made: Collection[UUID]) -> list[tuple[UUID, int | None]]:
    """Links and conflicts of other runs with memories that this one made: (memory, run), the oldest first."""
    if not made:
        return []
    found: list[tuple[UUID, int | None]] = []
    for table, ends in (
        (MemoryLink, (MemoryLink.source_id, MemoryLink.target_id)),
        (MemoryConflict, (MemoryConflict.memory_id, MemoryConflict.conflicting_memory_id)),
    ):
        for end in ends:
            query = select(end, table.run_id).where(end.in_(made), or_(table.run_id.is_(None), table.run_id != run_id))
            found.extend((memory, run) for memory, run in connection.execute(query.order_by(table.id)))
    return found
