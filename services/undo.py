"""Undo a run: restore what it changed, in one transaction that is itself a run, or change nothing (I6).

Undo restores contents, links, statuses, sources, conflicts, questions and notes of working memory. Counters (revisions,
the time of the last check) and history (changes, runs) are not reset.

Light passes skip a restored memory until new evidence arrives; otherwise the next pass would repeat the undone change.

Must not know: the kinds of passes, the caller.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, Engine, update
from sqlalchemy.exc import IntegrityError

from slowwave_server.domain.spoken_time import count_words
from slowwave_server.models import MaintenanceRun
from slowwave_server.services.aliases.undoing import restore_aliases
from slowwave_server.services.memory_changes import Author, mark_checked, note_change
from slowwave_server.services.merging import sync_copies
from slowwave_server.services.reprocess.undoing import unswitch
from slowwave_server.services.runs import LEASE_SECONDS, finish_run, start_run
from slowwave_server.services.undo_checks import (
    CannotUndo,
    Touched,
    check_unused,
    lock_run,
    lock_touched,
    refuse_if_built_on,
)
from slowwave_server.services.undo_fields import Made, changes_of, put_back, reindex, reopen
from slowwave_server.services.undo_rows import Removed, remove_made, remove_rows, reopen_items, unread, weigh_all

_COPIED = frozenset({"sourced", "repeated"})


@dataclass(frozen=True, slots=True)
class UndoReport:
    """What an undo did. run: the number of the undo; undone: the number of the undone run.

    restored: memories with a restored field; removed: memories that the run had created; kept: those that it had
    created and that have other evidence too; links, triples, conflicts, questions: deleted rows; decisions: restored
    conflicts and questions; reopened: notes that are open in working memory again; aliases: restored pairs of names.
    """

    run: int
    undone: int
    restored: int
    removed: int
    kept: int
    links: int
    triples: int
    conflicts: int
    questions: int
    decisions: int
    reopened: int
    aliases: int
    summary: str


def undo(engine: Engine, tenant: str, run_id: int, *, by: str, now: datetime) -> UndoReport:
    """Undo run `run_id` of `tenant`. by: the person or program that asks for it.

    Raises UnknownName if the tenant has no such run, and CannotUndo, with the reason, if later changes depend on the
    run. In both cases nothing was changed.
    """
    # One transaction, even if the engine is in autocommit mode.
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
        try:
            return _undo(connection, tenant, run_id, by=by, now=now)
        except IntegrityError as error:
            constraint = getattr(getattr(error.orig, "diag", None), "constraint_name", None)
            raise CannotUndo(f"run {run_id} can't be undone: it conflicts with a later change ({constraint})") from None


def _undo(connection: Connection, tenant: str, run_id: int, *, by: str, now: datetime) -> UndoReport:
    target = lock_run(connection, tenant, run_id)
    touched = lock_touched(connection, tenant, run_id)
    changes = changes_of(connection, run_id)
    made = {change.memory for change in changes if change.action == "created"}
    refuse_if_built_on(connection, run_id, touched, made)
    check_unused(connection, run_id, touched, made)

    run = start_run(
        connection, kind="undo", now=now, lease_seconds=LEASE_SECONDS, scope_id=target.scope_id, by=by, undoes=run_id
    )
    author = Author(run.id, by)
    gone = remove_rows(connection, run_id)
    reopened, noted = reopen_items(connection, run_id)
    read = unread(connection, run_id) | unswitch(connection, run_id)
    aliases = restore_aliases(connection, run_id, author, now)
    done = _replay(connection, changes, touched, gone, author=author, reason=f"run {run_id} was undone", now=now)
    _follow(connection, done, touched, parts=_merged(changes) | read, rested=noted | read, now=now)

    restored, removed, kept = len(done.restored - done.removed), len(done.removed), len(made - done.removed)
    report = UndoReport(
        run=run.id,
        undone=run_id,
        restored=restored,
        removed=removed,
        kept=kept,
        links=gone.links,
        triples=gone.triples,
        conflicts=len(gone.conflicts),
        questions=len(gone.questions),
        decisions=done.decisions,
        reopened=reopened,
        aliases=aliases,
        summary=_summary(run_id, restored, removed, kept, reopened, aliases),
    )
    connection.execute(
        update(MaintenanceRun).where(MaintenanceRun.id == run_id).values(status="undone", undone_by=run.id)
    )
    finish_run(connection, run, status="completed", summary=report.summary, stats=_stats(report), now=now)
    return report


def _stats(report: UndoReport) -> dict[str, int]:
    return {key: value for key, value in asdict(report).items() if key not in {"run", "summary"}}


def _follow(
    connection: Connection,
    done: "_Done",
    touched: Mapping[UUID, Touched],
    *,
    parts: set[UUID],
    rested: set[UUID],
    now: datetime,
) -> None:
    """Update what depends on the fields: copies of sources, scores, the search index; mark the memories as checked."""
    for part in sorted(parts - done.removed):
        sync_copies(connection, part, now)
    weigh_all(connection, rested - done.removed, now)
    reindex(connection, [touched[memory] for memory in sorted(done.reworded - done.removed)])
    mark_checked(connection, sorted(set(touched) - done.removed), now)


@dataclass
class _Done:
    """The result of a replay. reworded: memories with restored content."""

    reworded: set[UUID] = field(default_factory=set)
    restored: set[UUID] = field(default_factory=set)
    removed: set[UUID] = field(default_factory=set)
    decisions: int = 0


def _replay(
    connection: Connection,
    changes: Sequence[Made],
    touched: Mapping[UUID, Touched],
    gone: Removed,
    *,
    author: Author,
    reason: str,
    now: datetime,
) -> _Done:
    """Revert the changes, the last one first, so that every state in between existed before."""
    done = _Done()
    for change in changes:
        memory = change.memory
        if change.of_fields:
            put_back(connection, touched[memory], change, author=author, reason=reason, now=now)
            done.restored.add(memory)
            if "content" in (change.before or {}):
                done.reworded.add(memory)
        elif change.action == "created":
            if remove_made(connection, memory, author=author, reason=reason, now=now):
                done.removed.add(memory)
        elif change.action == "decided":
            done.decisions += reopen(connection, change, gone, author=author, reason=reason, now=now)
        elif change.action in _COPIED:
            was = {change.action: change.after}
            note_change(
                connection, memory, author=author, action="undone", before=was, after=None, reason=reason, now=now
            )
    return done


def _merged(changes: Sequence[Made]) -> set[UUID]:
    return {change.memory for change in changes if change.of_fields and "merged_into" in (change.before or {})}


def _summary(run_id: int, restored: int, removed: int, kept: int, reopened: int, aliases: int) -> str:
    parts = [count_words(restored, "memory", "memories") + " as before"] if restored or not aliases else []
    if aliases:
        parts.append(f"{count_words(aliases, 'alias', 'aliases')} as before")
    if removed:
        parts.append(f"{removed:,} that it had made taken away")
    if kept:
        parts.append(f"{kept:,} kept, since something else says the same")
    if reopened:
        parts.append(f"{count_words(reopened, 'item')} back in working memory")
    return f"run {run_id} undone: {', '.join(parts)}"
