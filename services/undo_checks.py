"""Undo, the checks: whether a run is the tenant's, is over, and nothing later built on what it changed.

A flush that adds evidence is nothing that stands in the way: evidence is kept, and weighed again.

Must not know: how changes are taken back.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, func, select

from slowwave.errors import SlowwaveError
from slowwave_server.models import MaintenanceRun, Memory, MemoryChange, MemoryNote, Scope, WorkingItem
from slowwave_server.services.consolidation.scope_lock import lock_scope
from slowwave_server.services.memory_changes import DECIDED
from slowwave_server.services.reports.names import UnknownName
from slowwave_server.services.undo_rows import made_by_others

EXCERPT_CHARACTERS = 60
_ALONE = frozenset({"linked"})
"""Changes that neither lean on others of the same memory nor carry them."""


class CannotUndo(SlowwaveError):
    """A run can't be taken back; the message names what stands in the way, and nothing was changed."""


@dataclass(slots=True)
class Touched:
    """A memory that the run changed, locked, as it is now: its decided fields, and its revision."""

    id: UUID
    scope_id: int
    revision: int
    fields: dict[str, Any]


def excerpt(content: str) -> str:
    """The beginning of what a memory says, in quotation marks, after a blank."""
    flat = " ".join(content.split())
    short = flat if len(flat) <= EXCERPT_CHARACTERS else flat[: EXCERPT_CHARACTERS - 1] + "…"
    return f" “{short}”"


def lock_run(connection: Connection, tenant: str, run_id: int) -> Row[*tuple[Any, ...]]:
    """The run, locked, so that it is undone once. Raises UnknownName and CannotUndo."""
    row = connection.execute(
        select(
            MaintenanceRun.id,
            MaintenanceRun.kind,
            MaintenanceRun.status,
            MaintenanceRun.scope_id,
            MaintenanceRun.undone_by,
            MaintenanceRun.undoes,
            Scope.tenant,
        )
        .join(Scope, Scope.id == MaintenanceRun.scope_id, isouter=True)
        .where(MaintenanceRun.id == run_id)
        .with_for_update(of=MaintenanceRun)
    ).first()
    if row is None or (row.scope_id is not None and row.tenant != tenant):
        raise UnknownName(f"tenant {tenant!r} has no run {run_id}; `slowwave runs` lists them")
    if row.status == "undone":
        raise CannotUndo(f"run {run_id} was undone already, by run {row.undone_by}")
    if row.status == "running":
        raise CannotUndo(f"run {run_id} can't be undone: it is still under way")
    if row.kind == "undo":
        raise CannotUndo(
            f"run {run_id} can't be undone: it is an undo itself (of run {row.undoes}); let a pass run again, and it"
            " will find anew what there is to do"
        )
    return row


def lock_touched(connection: Connection, tenant: str, run_id: int) -> dict[UUID, Touched]:
    """The memories that the run changed, locked in the order of their ids. Raises CannotUndo, UnknownName."""
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
        raise UnknownName(f"tenant {tenant!r} has no run {run_id}; `slowwave runs` lists them")
    if tenants - {tenant}:
        raise CannotUndo(f"run {run_id} can't be undone for tenant {tenant!r} alone: it changed memories of others too")
    if missing := set(connection.execute(changed).scalars()) - {row.id for row in rows}:
        raise CannotUndo(f"run {run_id} can't be undone: memory {min(missing)}, which it changed, is gone")
    return {
        row.id: Touched(row.id, row.scope_id, row.revision, {name: getattr(row, name) for name in DECIDED})
        for row in rows
    }


def refuse_if_built_on(
    connection: Connection, run_id: int, touched: Mapping[UUID, Touched], made: Collection[UUID]
) -> None:
    """Raise CannotUndo where a run that stands changed one of these memories after this run did."""
    own: dict[UUID, tuple[int, set[str]]] = {}
    mine = (
        select(MemoryChange.memory_id, func.min(MemoryChange.id), func.array_agg(MemoryChange.action.distinct()))
        .where(MemoryChange.run_id == run_id)
        .group_by(MemoryChange.memory_id)
    )
    for memory, first_id, did in connection.execute(mine):
        own[memory] = (first_id, set(did))
    changed = select(MemoryChange.memory_id).where(MemoryChange.run_id == run_id)
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
            MaintenanceRun.kind != "undo",
            MaintenanceRun.status != "undone",
        )
        .order_by(MemoryChange.id)
    )
    for row in connection.execute(later):
        first, actions = own[row.memory_id]
        apart = row.memory_id not in made and (row.action in _ALONE or actions <= _ALONE)
        if row.id > first and not apart:
            raise _built_on(run_id, touched[row.memory_id], row)


def check_unused(connection: Connection, run_id: int, touched: Mapping[UUID, Touched], made: Collection[UUID]) -> None:
    """Raise CannotUndo where other runs linked to memories that this one made, or rest evidence on them."""
    others = made_by_others(connection, run_id, made)
    if made:
        noted = (
            select(MemoryNote.memory_id, WorkingItem.run_id)
            .join(WorkingItem, WorkingItem.id == MemoryNote.working_id)
            # A copy stands where its own memory was merged into this one: that merge is looked at for itself.
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
