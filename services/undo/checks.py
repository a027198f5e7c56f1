"""The checks of an undo: the run belongs to the tenant, it has ended, and no later run depends on its changes.

If a flush added evidence, an undo is still possible: the evidence stays, and the memory is scored again.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, func, or_, select
from sqlalchemy.orm import aliased

from slowwave.errors import SlowwaveError
from slowwave_server.models import (
    MaintenanceRun,
    Memory,
    MemoryChange,
    MemoryConflict,
    MemoryLink,
    MemoryNote,
    ReviewItem,
    Scope,
    WorkingItem,
)
from slowwave_server.services.consolidation.scope_lock import lock_scope
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memories.changed_fields import DECIDED

EXCERPT_CHARACTERS = 60
_ALONE = frozenset({"linked"})
"""Changes that neither lean on others of the same memory nor carry them."""


class CannotUndo(SlowwaveError):
    """The run can't be undone; the message gives the reason, and nothing was changed."""


class NothingToUndo(CannotUndo):
    """The run made no change that an undo could restore."""


@dataclass(slots=True)
class Touched:
    """A memory that the run changed, with its present revision and decided fields. Its row is locked."""

    id: UUID
    scope_id: int
    revision: int
    fields: dict[str, Any]


def excerpt(content: str) -> str:
    """Return the start of a memory's text, in quotation marks, after a blank."""
    flat = " ".join(content.split())
    short = flat if len(flat) <= EXCERPT_CHARACTERS else flat[: EXCERPT_CHARACTERS - 1] + "…"
    return f" “{short}”"


@dataclass(frozen=True, slots=True)
class UndoneRun:
    """The run that the undo to be undone had undone, with its status before."""

    id: int
    kind: str
    status: str


@dataclass(frozen=True, slots=True)
class Target:
    """The run to undo, with its row locked. undoes: what it undid, if an undo; saved: its number of saved rows."""

    id: int
    kind: str
    status: str
    scope_id: int | None
    undoes: UndoneRun | None = None
    saved: int = 0


def meant_run(connection: Connection, run_id: int) -> int:
    """Return the run to undo. If it is the undo of an undo, return the first run, which is in effect again."""
    second = aliased(MaintenanceRun)
    query = (
        select(MaintenanceRun.undoes)
        .join(second, second.undoes == MaintenanceRun.id)
        .where(second.id == run_id, second.status != "undone", MaintenanceRun.kind == "undo")
    )
    found: int | None = connection.execute(query).scalar()
    return run_id if found is None else found


def lock_run(connection: Connection, tenant: str, run_id: int) -> Target:
    """Lock the run's row, so that only one process undoes it. Raises UnknownName and CannotUndo."""
    row = connection.execute(
        select(MaintenanceRun.__table__, Scope.tenant.label("of_tenant"))
        .join(Scope, Scope.id == MaintenanceRun.scope_id, isouter=True)
        .where(MaintenanceRun.id == run_id)
        .with_for_update(of=MaintenanceRun)
    ).first()
    if row is None or (row.scope_id is not None and row.of_tenant != tenant):
        raise UnknownName(f"tenant {tenant!r} has no run {run_id}; `slowwave run list` lists them")
    if row.status == "undone":
        raise CannotUndo(
            f"run {run_id} was undone already, by run {row.undone_by};"
            f" `slowwave run undo {row.undone_by}` would reverse that"
        )
    if row.status == "running":
        raise CannotUndo(f"run {run_id} can't be undone: it is still running")
    if row.stats.get("moved_from"):
        raise CannotUndo(
            f"run {run_id} can't be undone here: it moved conversations in, which a forget takes back; run"
            f" `slowwave run undo {run_id}`"
        )
    if row.stats.get("bundle"):
        raise CannotUndo(
            f"run {run_id} can't be undone: it imported a whole agent; to take that back, forget the agent with"
            " `slowwave agent forget NAME`"
        )
    if row.stats.get("dry_run"):
        raise CannotUndo(f"run {run_id} can't be undone: it was a dry run and changed nothing")
    undoes = None if row.kind != "undo" else _undone_by(connection, row)
    return Target(run_id, row.kind, row.status, row.scope_id, undoes, int(row.stats.get("saved", 0)))


def _undone_by(connection: Connection, undo: Row[*tuple[Any, ...]]) -> UndoneRun:
    """Return the run that this undo undid, locked. Raises CannotUndo if this can't be reversed."""
    first = connection.execute(select(MaintenanceRun.__table__).where(MaintenanceRun.id == undo.undoes)).one()
    if first.kind == "rebuild":
        raise CannotUndo(
            f"run {undo.id} can't be undone: it undid the rebuild of run {first.id}; rebuild again with"
            " `slowwave run rebuild`"
        )
    if first.stats.get("moved_from"):
        raise CannotUndo(
            f"run {undo.id} can't be undone: it forgot what run {first.id} had moved in; import that again with"
            " `slowwave import from`"
        )
    if "was" not in undo.stats:
        raise CannotUndo(
            f"run {undo.id} can't be undone: an older version made this undo and kept no copy of what it removed;"
            f" a later pass may decide again what run {first.id} had decided"
        )
    return UndoneRun(first.id, first.kind, undo.stats["was"])


def lock_touched(
    connection: Connection, tenant: str, run_id: int, *, without: Collection[UUID] = ()
) -> dict[UUID, Touched]:
    """Lock and return the memories that the run changed, in the order of their ids. Raises CannotUndo, UnknownName.

    without: memories that may be missing, because the run removed them.
    """
    changed = select(MemoryChange.memory_id).where(MemoryChange.run_id == run_id)
    scopes = select(Memory.scope_id).where(Memory.id.in_(changed)).distinct()
    for scope_id in sorted(connection.execute(scopes).scalars()):
        if not lock_scope(connection, scope_id):
            raise CannotUndo(f"run {run_id} can't be undone now: a pass is at the same memories; try again after it")
    query = (
        select(Memory.id, Memory.scope_id, Memory.revision, Scope.tenant, *(getattr(Memory, name) for name in DECIDED))
        .join(Scope, Scope.id == Memory.scope_id)
        .where(Memory.id.in_(changed))
        .order_by(Memory.id)
        .with_for_update(of=Memory)
    )
    rows = connection.execute(query).all()
    tenants = {row.tenant for row in rows}
    if tenants and tenant not in tenants:
        raise UnknownName(f"tenant {tenant!r} has no run {run_id}; `slowwave run list` lists them")
    if tenants - {tenant}:
        raise CannotUndo(f"run {run_id} can't be undone for tenant {tenant!r} alone: it changed memories of others too")
    if missing := set(connection.execute(changed).scalars()) - {row.id for row in rows} - set(without):
        raise CannotUndo(f"run {run_id} can't be undone: memory {min(missing)}, which it changed, was deleted")
    return {
        row.id: Touched(row.id, row.scope_id, row.revision, {name: getattr(row, name) for name in DECIDED})
        for row in rows
    }


def refuse_if_built_on(
    connection: Connection, target: Target, touched: Mapping[UUID, Touched], made: Collection[UUID]
) -> None:
    """Raise CannotUndo if a later run that is in effect changed one of these memories.

    If the run is an undo, a later undo counts if it undid a run from before this one. A later run that was itself
    undone later does not count.
    """
    run_id = target.id
    own: dict[UUID, tuple[int, set[str]]] = {}
    mine = (
        select(MemoryChange.memory_id, func.min(MemoryChange.id), func.array_agg(MemoryChange.action.distinct()))
        .where(MemoryChange.run_id == run_id)
        .group_by(MemoryChange.memory_id)
    )
    for memory, first_id, did in connection.execute(mine):
        own[memory] = (first_id, set(did))
    changed = select(MemoryChange.memory_id).where(MemoryChange.run_id == run_id)
    no_undo = MaintenanceRun.kind != "undo"
    later = (
        select(
            MemoryChange.id,
            MemoryChange.memory_id,
            MemoryChange.action,
            MemoryChange.made_by,
            MemoryChange.made_at,
            MaintenanceRun.id.label("run"),
            MaintenanceRun.kind,
        )
        .join(MaintenanceRun, MaintenanceRun.id == MemoryChange.run_id)
        .where(
            MemoryChange.memory_id.in_(changed),
            MaintenanceRun.id != run_id,
            no_undo if target.undoes is None else or_(no_undo, MaintenanceRun.undoes < run_id),
            MaintenanceRun.status != "undone",
        )
        .order_by(MemoryChange.id)
    )
    for row in connection.execute(later):
        first, actions = own[row.memory_id]
        apart = row.memory_id not in made and (row.action in _ALONE or actions <= _ALONE)
        if row.id > first and not apart:
            raise _built_on(run_id, touched[row.memory_id], row)


def refuse_if_asked_later(connection: Connection, run_id: int) -> None:
    """Raise CannotUndo if a later run asked about a conflict that this one had registered."""
    query = (
        select(ReviewItem.id, ReviewItem.run_id)
        .join(MemoryConflict, MemoryConflict.id == ReviewItem.conflict_id)
        .where(MemoryConflict.run_id == run_id, ReviewItem.run_id != run_id)
        .order_by(ReviewItem.id)
        .limit(1)
    )
    row = connection.execute(query).first()
    if row is not None:
        raise CannotUndo(
            f"run {run_id} can't be undone: run {row.run_id} put question {row.id} about a conflict of it; undo run"
            f" {row.run_id} first"
        )


def check_unused(connection: Connection, run_id: int, touched: Mapping[UUID, Touched], made: Collection[UUID]) -> None:
    """Raise CannotUndo if other runs linked to memories that this one made, or use them as evidence."""
    others = made_by_others(connection, run_id, made)
    if made:
        noted = (
            select(MemoryNote.memory_id, WorkingItem.run_id)
            .join(WorkingItem, WorkingItem.id == MemoryNote.working_id)
            # A copy exists because its own memory was merged into this one: this merge is checked separately.
            .where(MemoryNote.memory_id.in_(made), MemoryNote.via.is_(None), WorkingItem.run_id != run_id)
        )
        others.extend((memory, run) for memory, run in connection.execute(noted))
        pointing = (
            select(Memory.superseded_by, Memory.merged_into)
            .where(
                Memory.id.not_in(select(MemoryChange.memory_id).where(MemoryChange.run_id == run_id)),
                Memory.superseded_by.in_(made) | Memory.merged_into.in_(made),
            )
        )  # fmt: skip
        others.extend((row.merged_into or row.superseded_by, None) for row in connection.execute(pointing))
    for memory, run in others:
        who = "something else" if run is None else f"run {run}"
        cure = "" if run is None else f"; undo run {run} first"
        content = touched[memory].fields["content"]
        raise CannotUndo(
            f"run {run_id} can't be undone: it made memory {memory}{excerpt(content)}, and {who} builds on that{cure}"
        )


def _built_on(run_id: int, memory: Touched, row: Row[*tuple[Any, ...]]) -> CannotUndo:
    who = "" if row.made_by is None else f" by {row.made_by}"
    at = _moment(row.made_at)
    return CannotUndo(
        f"run {run_id} can't be undone: run {row.run} ({row.kind}{who}, {at}) later changed memory"
        f" {memory.id}{excerpt(memory.fields['content'])} ({row.action}); undo run {row.run} first"
    )


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def made_by_others(connection: Connection, run_id: int, made: Collection[UUID]) -> list[tuple[UUID, int | None]]:
    """Return links and conflicts of other runs with memories that this one made: (memory, run), oldest first."""
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
