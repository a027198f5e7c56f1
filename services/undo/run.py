"""Undo of one run, within the caller's transaction: delete what it added, revert what it changed, last change first.

An undo of an undo reverses these steps: the saved rows are written, then the changes of the undo are reverted.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from uuid import UUID

from sqlalchemy import Connection, select, update

from slowwave_server.models import MaintenanceRun
from slowwave_server.services.memories.changes import Author, Ledger, mark_checked, note_change
from slowwave_server.services.memories.merging import sync_copies
from slowwave_server.services.rebuild.undoing import unswitch
from slowwave_server.services.runs.store import LEASE_SECONDS, finish_run, start_run
from slowwave_server.services.undo.aliases import restore_aliases
from slowwave_server.services.undo.checks import (
    CannotUndo,
    NothingToUndo,
    Target,
    Touched,
    check_unused,
    lock_run,
    lock_touched,
    refuse_if_asked_later,
    refuse_if_built_on,
)
from slowwave_server.services.undo.fields import RunChange, changes_of, put_back, reindex, reopen
from slowwave_server.services.undo.report import UndoReport, describe
from slowwave_server.services.undo.rows import (
    Removed,
    is_empty,
    remove_made,
    remove_rows,
    reopen_items,
    return_made,
    unread,
    weigh_all,
)
from slowwave_server.services.undo.saved import count_saved, rested_on, restore_rows

_COPIED = frozenset({"sourced", "repeated"})


@dataclass(frozen=True, slots=True)
class Undoing:
    """The inputs of an undo. connection: it has an open transaction; by: the person who requests the undo."""

    connection: Connection
    tenant: str
    by: str
    now: datetime
    no_repeat: bool = False


def undo_run(undoing: Undoing, run_id: int, *, part_of: int | None = None) -> UndoReport:
    """Undo one run, as a new run. part_of: the number of the run that undoes a whole job, if this undo is one step of
    it.

    Raises CannotUndo, UnknownName.
    """
    connection, now = undoing.connection, undoing.now
    target = lock_run(connection, undoing.tenant, run_id)
    changes = changes_of(connection, run_id)
    removed = {change.memory for change in changes if change.was_removed}
    touched = lock_touched(connection, undoing.tenant, run_id, without=removed)
    if target.kind != "rebuild" and is_empty(connection, run_id):
        raise NothingToUndo(_why_nothing(connection, run_id))
    made = {change.memory for change in changes if change.action == "created"}
    refuse_if_built_on(connection, target, touched, made)
    check_unused(connection, run_id, touched, made)
    refuse_if_asked_later(connection, run_id)
    returned = {} if target.undoes is None else _write_back(connection, target)
    if removed:
        touched = lock_touched(connection, undoing.tenant, run_id)
    run = start_run(
        connection,
        kind="undo",
        now=now,
        lease_seconds=LEASE_SECONDS,
        scope_id=target.scope_id,
        by=undoing.by,
        undoes=run_id,
        part_of=part_of,
        no_repeat=undoing.no_repeat,
    )
    ledger = Ledger(connection, Author(run.id, undoing.by), now)
    report = _Reverted(ledger, target, touched).revert(changes, made, returned)
    report = replace(report, summary=describe(report, None if target.undoes is None else target.undoes.id))
    mark_undone(connection, target, run.id)
    saved = count_saved(connection, run.id)
    stats = {**report.counts, "undone": run_id, "saved": saved, "was": target.status}
    finish_run(connection, run, status="completed", summary=report.summary, stats=stats, now=now)
    return report


def mark_undone(connection: Connection, target: Target, undo: int) -> None:
    """Mark a run as undone. If it was an undo, mark the run that it had undone as in effect again.

    If the run was in effect again because of an undo, this undo is marked, too.
    """
    runs = update(MaintenanceRun)
    undos = select(MaintenanceRun.id).where(MaintenanceRun.undoes == target.id, MaintenanceRun.kind == "undo")
    reversals = (MaintenanceRun.undoes.in_(undos), MaintenanceRun.status == "completed")
    for which in ((MaintenanceRun.id == target.id,), reversals):
        connection.execute(runs.where(*which).values(status="undone", undone_by=undo))
    if target.undoes is not None:
        again = {"status": target.undoes.status, "undone_by": None}
        connection.execute(runs.where(MaintenanceRun.id == target.undoes.id).values(**again))


def _write_back(connection: Connection, target: Target) -> Mapping[str, int]:
    if count_saved(connection, target.id) != target.saved:
        raise CannotUndo(
            f"run {target.id} can't be undone: a forget in the same scope deleted the copies of what it had removed"
        )
    return restore_rows(connection, target.id)


def _why_nothing(connection: Connection, run_id: int) -> str:
    parts = connection.execute(select(MaintenanceRun.id).where(MaintenanceRun.part_of == run_id).limit(1)).first()
    if parts is not None:
        return f"run {run_id} can't be undone: the runs that it had started were undone already, or changed nothing"
    return f"run {run_id} can't be undone: it changed no memory, question or note"


@dataclass
class _Reverted:
    """A revert in progress. reworded: memories with restored content."""

    ledger: Ledger
    target: Target
    touched: Mapping[UUID, Touched]
    reworded: set[UUID] = field(default_factory=set)
    restored: set[UUID] = field(default_factory=set)
    removed: set[UUID] = field(default_factory=set)
    decisions: int = 0

    @property
    def _reason(self) -> str:
        return f"run {self.target.id} was undone"

    def revert(self, changes: Sequence[RunChange], made: Collection[UUID], returned: Mapping[str, int]) -> UndoReport:
        """Revert all changes, and count them. returned: the rows that were written back, if an undo is being undone."""
        connection, run_id, undo = self.ledger.connection, self.target.id, self.ledger.author.run_id
        gone = remove_rows(connection, run_id, undo)
        reopened, noted = reopen_items(connection, run_id, undo)
        days, read = unread(connection, run_id, undo)
        read |= unswitch(connection, run_id)
        aliases = restore_aliases(connection, run_id, self.ledger.author, self.ledger.now)
        # The last change comes first, so every intermediate state existed before. Neighbours of one kind are reverted
        # together.
        for kind, several in groupby(changes, _kind):
            if kind == "made":
                self._remove([change.memory for change in several])
            elif kind == "removed":
                self._return([change.memory for change in several])
            else:
                for change in several:
                    self._change(change, gone)
        rested = noted | read if self.target.undoes is None else rested_on(connection, run_id)
        self._follow(parts=_merged(changes) | read, rested=rested)
        removed = self.removed or {change.memory for change in changes if change.was_removed}
        return UndoReport(
            run=undo,
            undone=run_id,
            again=self.target.undoes is not None,
            restored=len(self.restored - removed),
            removed=len(removed),
            kept=len(set(made) - removed),
            links=gone.links or returned.get("memory_links", 0),
            triples=gone.triples or returned.get("triples", 0),
            conflicts=len(gone.conflicts) or returned.get("memory_conflicts", 0),
            questions=len(gone.questions) or returned.get("review_items", 0),
            decisions=self.decisions,
            reopened=reopened or returned.get("working_memory", 0),
            aliases=aliases,
            days=days or returned.get("day_summaries", 0),
        )

    def _remove(self, memories: Sequence[UUID]) -> None:
        self.removed |= remove_made(self.ledger, memories, undo=self.ledger.author.run_id, reason=self._reason)

    def _return(self, memories: Sequence[UUID]) -> None:
        return_made(self.ledger, memories, reason=self._reason)

    def _change(self, change: RunChange, gone: Removed) -> None:
        """Revert one change of any kind except the creation and removal of a memory."""
        reason, memory = self._reason, change.memory
        if change.of_fields:
            put_back(self.ledger, self.touched[memory], change, reason=reason)
            self.restored.add(memory)
            if "content" in (change.before or {}):
                self.reworded.add(memory)
        elif change.decided:
            self.decisions += reopen(self.ledger, change, gone, reason=reason)
        elif change.action in _COPIED or change.action == "conflict":
            was = {change.action: change.after} if change.action in _COPIED else _pair(change)
            note_change(self.ledger, memory, action="undone", before=was, after=None, reason=reason)

    def _follow(self, *, parts: set[UUID], rested: set[UUID]) -> None:
        """Update what depends on the fields: copies of sources, scores, the search index; mark memories as checked."""
        connection, now = self.ledger.connection, self.ledger.now
        for part in sorted(parts - self.removed):
            sync_copies(connection, part, now)
        weigh_all(connection, rested - self.removed, now)
        reindex(connection, [self.touched[memory] for memory in sorted(self.reworded - self.removed)])
        mark_checked(connection, sorted(set(self.touched) - self.removed), now)


def _kind(change: RunChange) -> str:
    if change.of_fields:
        return "fields"
    return "made" if change.action == "created" else "removed" if change.was_removed else "other"


def _merged(changes: Sequence[RunChange]) -> set[UUID]:
    return {change.memory for change in changes if change.of_fields and "merged_into" in (change.before or {})}


def _pair(change: RunChange) -> dict[str, object]:
    """Return a registered conflict without texts."""
    return {name: value for name, value in (change.after or {}).items() if name in {"conflict", "with", "status"}}
