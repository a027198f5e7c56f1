"""Runs of maintenance: the result of each run, and every change that it made.

For a run of the installation (a job over all scopes), a tenant sees only the changes of its own memories (I8).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, func, select

from slowwave_server.domain.changes import ChangeLine
from slowwave_server.models import (
    MaintenanceRun,
    Memory,
    MemoryChange,
    MemoryConflict,
    MemoryLink,
    MemoryNote,
    MemorySource,
    ReviewItem,
    Scope,
    Session,
    Triple,
    WorkingItem,
)
from slowwave_server.services.access.reach import Reach
from slowwave_server.services.memories.file_lines import files_among
from slowwave_server.services.reports.mentioned import contents_of
from slowwave_server.services.reports.run_list import RunLine, find_run

EVIDENCE_SHOWN = 5
CHANGES_READ = 10_000


@dataclass(frozen=True, slots=True)
class RunStory:
    """A run with its changes. changed: the number of all changes; changes: the first ones, in order.

    actions: the number of each action; added: the number of rows with its number (links, triples, conflicts, questions,
    items). more_after: the argument `after` for the next page; None if `changes` has the last one. parts: the runs that
    it started. lost: for a pass that was rolled back, the texts of memories by id: with the changes, answers would
    have contained less of their evidence.
    """

    run: RunLine
    actions: dict[str, int]
    added: dict[str, int]
    changed: int
    changes: tuple[ChangeLine, ...]
    more_after: int | None
    parts: tuple[int, ...] = ()
    lost: dict[UUID, str] = field(default_factory=dict)


def read_run(
    connection: Connection,
    tenant: str,
    run_id: int,
    *,
    reach: Reach | None = None,
    after: int = 0,
    limit: int = 200,
) -> RunStory:
    """Return one run with its first `limit` changes, or those after a cursor. Raises UnknownName, also out of reach."""
    run = find_run(connection, tenant, run_id, reach)
    mine = _changes(tenant, run_id)
    counted = _actions(tenant, run_id) if run.scope is not None else mine
    query = select(counted.c.action, func.count().label("number")).group_by(counted.c.action)
    found = connection.execute(query.order_by(func.min(counted.c.id)))
    actions: dict[str, int] = {row.action: row.number for row in found}
    limit = min(limit, CHANGES_READ)
    read = connection.execute(select(mine).where(mine.c.id > after).order_by(mine.c.id).limit(limit + 1)).all()
    changes = read[:limit]
    evidence = _evidence(connection, tenant, {change.memory_id for change in changes})
    return RunStory(
        run=run,
        actions=actions,
        added=_added(connection, tenant, run_id),
        changed=sum(actions.values()),
        changes=tuple(_change_line(change, evidence[change.memory_id]) for change in changes),
        more_after=changes[-1].id if changes and len(read) > limit else None,
        parts=_parts(connection, tenant, run_id),
        lost=contents_of(connection, tenant, map(UUID, run.stats.get("lost", ()))),
    )


def _change_line(change: Row[*tuple[Any, ...]], evidence: Sequence[Any]) -> ChangeLine:
    return ChangeLine(
        action=change.action,
        memory=change.memory_id,
        content=change.content,
        before=change.before,
        after=change.after,
        reason=change.reason,
        evidence=tuple(evidence),
    )


def _parts(connection: Connection, tenant: str, run_id: int) -> tuple[int, ...]:
    """Return the runs that this one started in scopes of the tenant, by number."""
    query = (
        select(MaintenanceRun.id)
        .join(Scope, Scope.id == MaintenanceRun.scope_id)
        .where(MaintenanceRun.part_of == run_id, Scope.tenant == tenant)
        .order_by(MaintenanceRun.id)
    )
    return tuple(connection.execute(query).scalars())


def _actions(tenant: str, run_id: int) -> Any:
    """Return the actions of a run over one scope, as a subquery without a lookup of memories."""
    return (
        select(MemoryChange.id, MemoryChange.action)
        .join(MaintenanceRun, MaintenanceRun.id == MemoryChange.run_id)
        .join(Scope, Scope.id == MaintenanceRun.scope_id)
        .where(MemoryChange.run_id == run_id, Scope.tenant == tenant)
        .subquery("actions")
    )


def _changes(tenant: str, run_id: int) -> Any:
    """Return a run's changes as a subquery. A memory that an undo deleted has its values in its own last change."""
    last = (
        select(MemoryChange.before["content"].astext)
        .where(MemoryChange.action == "undone", MemoryChange.before.has_key("recorded_at"))
        .order_by(MemoryChange.id.desc())
        .limit(1)
    )
    outer = select(MemoryChange).where(MemoryChange.run_id == run_id).subquery("made")
    gone = last.where(MemoryChange.memory_id == outer.c.memory_id).correlate(outer).scalar_subquery()
    return (
        select(outer, func.coalesce(Memory.content, gone).label("content"))
        .join(MaintenanceRun, MaintenanceRun.id == outer.c.run_id)
        .join(Memory, Memory.id == outer.c.memory_id, isouter=True)
        .join(Scope, Scope.id == func.coalesce(Memory.scope_id, MaintenanceRun.scope_id), isouter=True)
        .where(Scope.tenant == tenant)
        .subquery("changes")
    )


def _evidence(connection: Connection, tenant: str, memories: set[UUID]) -> dict[UUID, list[str]]:
    """Return the first sources of each memory: `session#seq`, `noted` for working memory, `read` for lines of files."""
    found: dict[UUID, list[str]] = defaultdict(list)
    if not memories:
        return found
    place = func.row_number().over(partition_by=MemorySource.memory_id, order_by=(Session.name, MemorySource.seq))
    ranked = (
        select(MemorySource.memory_id, Session.name, MemorySource.seq, place.label("place"))
        .join(Session, Session.id == MemorySource.session_id)
        .join(Memory, Memory.id == MemorySource.memory_id)
        .join(Scope, Scope.id == Memory.scope_id)
        .where(Scope.tenant == tenant, MemorySource.memory_id.in_(memories))
        .subquery()
    )
    said = select(ranked).where(ranked.c.place <= EVIDENCE_SHOWN).order_by(ranked.c.memory_id, ranked.c.place)
    for row in connection.execute(said):
        found[row.memory_id].append(f"{row.name}#{row.seq}")
    noted = (
        select(MemoryNote.memory_id, WorkingItem.session)
        .join(WorkingItem, WorkingItem.id == MemoryNote.working_id)
        .join(Scope, Scope.id == WorkingItem.scope_id)
        .where(Scope.tenant == tenant, MemoryNote.memory_id.in_(memories))
        .order_by(WorkingItem.said_at)
    )
    for memory, session in connection.execute(noted):
        if len(found[memory]) < EVIDENCE_SHOWN:
            found[memory].append("noted by the agent" if session is None else f"noted in {session}")
    for memory, file in files_among(connection, tenant, memories):
        if len(found[memory]) < EVIDENCE_SHOWN:
            found[memory].append(f"read in {file}")
    return found


def _added(connection: Connection, tenant: str, run_id: int) -> dict[str, int]:
    of_memory = Memory.id == MemoryLink.source_id
    links = select(MemoryLink.id).join(Memory, of_memory).join(Scope, Scope.id == Memory.scope_id)
    queries: dict[str, Any] = {"links": links.where(MemoryLink.run_id == run_id)}
    tables: dict[str, Any] = {
        "triples": Triple,
        "conflicts": MemoryConflict,
        "questions": ReviewItem,
        "items of working memory": WorkingItem,
    }
    for name, table in tables.items():
        queries[name] = select(table.id).join(Scope, Scope.id == table.scope_id).where(table.run_id == run_id)
    counts = {}
    for name, query in queries.items():
        mine = query.where(Scope.tenant == tenant).subquery()
        if number := connection.execute(select(func.count()).select_from(mine)).scalar_one():
            counts[name] = number
    return counts
