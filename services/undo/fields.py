"""Undo changes: restore fields that a run decided, and questions that it answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.exc import IntegrityError

from slowwave_server.models import MaintenanceRun, MemoryBlock, MemoryChange, MemoryConflict, ReviewItem
from slowwave_server.services.consolidation.neighbours import index_blocks, load
from slowwave_server.services.memories.changed_fields import field_value, of_fields
from slowwave_server.services.memories.changes import Ledger, change_memory, note_change
from slowwave_server.services.undo.checks import CannotUndo, Touched, excerpt
from slowwave_server.services.undo.rows import Removed


@dataclass(frozen=True, slots=True)
class RunChange:
    """One change that a run made."""

    id: int
    run: int
    memory: UUID
    action: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    @property
    def of_fields(self) -> bool:
        """True if it set decided fields."""
        return of_fields(self.before, self.after)

    @property
    def was_removed(self) -> bool:
        """True if an undo also removed the memory."""
        return self.action == "undone" and self.after is None and "recorded_at" in (self.before or {})

    @property
    def decided(self) -> bool:
        """True if it decided a conflict or a question, or reopened one in an undo."""
        about = {"review_item", "conflict"} & set(self.before or {})
        return self.action == "decided" or (self.action == "undone" and self.after is not None and bool(about))


def changes_of(connection: Connection, run_id: int) -> list[RunChange]:
    """Return all changes of a run, the last one first."""
    query = (
        select(
            MemoryChange.id,
            MemoryChange.run_id,
            MemoryChange.memory_id,
            MemoryChange.action,
            MemoryChange.before,
            MemoryChange.after,
        )
        .join(MaintenanceRun, MaintenanceRun.id == MemoryChange.run_id)
        .where(MemoryChange.run_id == run_id)
        .order_by(MemoryChange.id.desc())
    )
    return [RunChange(*row) for row in connection.execute(query)]


def put_back(ledger: Ledger, memory: Touched, change: RunChange, *, reason: str) -> None:
    """Restore the fields of one change. Raises CannotUndo if a field has changed since."""
    before = {name: field_value(name, value) for name, value in (change.before or {}).items()}
    for name, value in (change.after or {}).items():
        if memory.fields[name] != field_value(name, value):
            raise CannotUndo(
                f"run {change.run} can't be undone: {name} of memory {memory.id}{excerpt(memory.fields['content'])} is"
                f" {memory.fields[name]}, and not what the run left there ({value})"
            )
    try:
        memory.revision = change_memory(ledger, memory.id, memory.revision, before, action="undone", reason=reason)
    except IntegrityError:
        raise CannotUndo(
            f"run {change.run} can't be undone: what memory {memory.id}{excerpt(memory.fields['content'])} says was"
            " said again since, and a memory of its own was made of it"
        ) from None
    memory.fields |= before


def reopen(ledger: Ledger, change: RunChange, gone: Removed, *, reason: str) -> bool:
    """Restore a conflict or a question to its state before the decision. Return False if the run itself had made it."""
    before, after = dict(change.before or {}), dict(change.after or {})
    item, conflict = before.get("review_item"), before.get("conflict")
    if item in gone.questions or conflict in gone.conflicts:
        return False
    decided_at = before.get("decided_at")
    values = {
        "decided_at": None if decided_at is None else datetime.fromisoformat(decided_at),
        "decided_by": before.get("decided_by"),
    }
    statement = (
        update(ReviewItem)
        .where(ReviewItem.id == item, ReviewItem.state == after.get("state"))
        .values(state=before.get("state"), **values)
        if item is not None
        else update(MemoryConflict)
        .where(MemoryConflict.id == conflict, MemoryConflict.status == after.get("status"))
        .values(status=before.get("status"), resolution=before.get("resolution"), **values)
    )
    what = f"question {item}" if item is not None else f"conflict {conflict}"
    try:
        found = ledger.connection.execute(statement).rowcount
    except IntegrityError:
        raise CannotUndo(f"run {change.run} can't be undone: {what} has been asked anew since") from None
    if not found:
        raise CannotUndo(f"run {change.run} can't be undone: {what} was decided anew since")
    note_change(ledger, change.memory, action="undone", before=after, after=before, reason=reason)
    return True


def reindex(connection: Connection, memories: Sequence[Touched]) -> None:
    """Index memories by their restored text, and no longer by the text in between."""
    for memory in memories:
        connection.execute(
            delete(MemoryBlock).where(MemoryBlock.scope_id == memory.scope_id, MemoryBlock.memory_id == memory.id)
        )
        index_blocks(connection, memory.scope_id, load(connection, memory.scope_id, [memory.id]).values())
