"""Read what relates to a memory: links, conflicts, questions, notes of agents, runs, triples.

Every query is limited to the scope (I8).
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Connection, case, or_, select, text

from slowwave_server.models import (
    MaintenanceRun,
    Memory,
    MemoryChange,
    MemoryConflict,
    MemoryLink,
    MemoryNote,
    ReviewItem,
    Triple,
    WorkingItem,
)
from slowwave_server.models.base import columns_of

READ = 200
"""The largest number of rows of each kind."""
CHAIN_DEPTH = 100


@dataclass(frozen=True, slots=True)
class LinkedMemory:
    """A link to or from another memory. confidence: a number from 0 to 1; ended_by: the run that removed the link, if
    one did.
    """

    direction: Literal["to", "from"]
    predicate: str
    memory: UUID
    content: str
    confidence: float
    run: int | None
    ended_by: int | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A contradiction with another memory, and its status."""

    id: int
    memory: UUID
    content: str
    reason: str
    evidence: dict[str, Any]
    status: str
    resolution: str | None
    run: int | None
    created_at: datetime
    decided_at: datetime | None
    decided_by: str | None


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    """A question to a person, about the memory itself or about one of its conflicts."""

    id: int
    conflict: int | None
    why: str
    tier: str
    state: str
    expires_at: datetime
    run: int | None
    decided_at: datetime | None
    decided_by: str | None


@dataclass(frozen=True, slots=True)
class WorkingNote:
    """An agent's note in working memory that is evidence for the memory. via: the id of the merged memory that brought
    it.
    """

    item: UUID
    session: str | None
    content: str
    importance: float
    marked: bool
    said_at: datetime
    outcome: str | None
    via: UUID | None


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """A memory that was merged into this one, or one of its successive values."""

    id: UUID
    content: str
    status: str
    valid_from: datetime
    valid_to: datetime | None


@dataclass(frozen=True, slots=True)
class MemoryRun:
    """A run that changed the memory."""

    id: int
    kind: str
    status: str
    by: str | None
    started_at: datetime
    summary: str | None
    undone_by: int | None


@dataclass(frozen=True, slots=True)
class MemoryRelation:
    """A triple that the memory states. confidence: a number from 0 to 1."""

    subject: str
    subject_type: str
    predicate: str
    object: str
    object_type: str
    confidence: float


def links_of(connection: Connection, scope_id: int, memory: UUID) -> tuple[LinkedMemory, ...]:
    """Return its links in both directions, oldest first, including ended ones."""
    other = case((MemoryLink.source_id == memory, MemoryLink.target_id), else_=MemoryLink.source_id)
    query = (
        select(
            case((MemoryLink.source_id == memory, "to"), else_="from").label("direction"),
            *columns_of(MemoryLink, LinkedMemory),
            Memory.id.label("memory"),
            Memory.content,
            MemoryLink.run_id.label("run"),
        )
        .join(Memory, Memory.id == other)
        .where(Memory.scope_id == scope_id, or_(MemoryLink.source_id == memory, MemoryLink.target_id == memory))
        .order_by(MemoryLink.id)
        .limit(READ)
    )
    return tuple(LinkedMemory(**row) for row in connection.execute(query).mappings())


def conflicts_of(connection: Connection, scope_id: int, memory: UUID) -> tuple[Conflict, ...]:
    """Return its conflicts, oldest first, including decided ones."""
    first, second = MemoryConflict.memory_id, MemoryConflict.conflicting_memory_id
    query = (
        select(
            *columns_of(MemoryConflict, Conflict),
            Memory.id.label("memory"),
            Memory.content,
            MemoryConflict.run_id.label("run"),
        )
        .join(Memory, Memory.id == case((first == memory, second), else_=first))
        .where(MemoryConflict.scope_id == scope_id, or_(first == memory, second == memory))
        .order_by(MemoryConflict.id)
        .limit(READ)
    )
    return tuple(Conflict(**row) for row in connection.execute(query).mappings())


def questions_of(connection: Connection, scope_id: int, memory: UUID) -> tuple[MemoryQuestion, ...]:
    """Return questions to people about it or its conflicts."""
    mine = select(MemoryConflict.id).where(
        MemoryConflict.scope_id == scope_id,
        or_(MemoryConflict.memory_id == memory, MemoryConflict.conflicting_memory_id == memory),
    )
    query = (
        select(
            *columns_of(ReviewItem, MemoryQuestion),
            ReviewItem.conflict_id.label("conflict"),
            ReviewItem.run_id.label("run"),
        )
        .where(ReviewItem.scope_id == scope_id, or_(ReviewItem.memory_id == memory, ReviewItem.conflict_id.in_(mine)))
        .order_by(ReviewItem.id)
        .limit(READ)
    )
    return tuple(MemoryQuestion(**row) for row in connection.execute(query).mappings())


def notes_of(connection: Connection, scope_id: int, memory: UUID) -> tuple[WorkingNote, ...]:
    """Return the agent's notes that are evidence for it, oldest first."""
    query = (
        select(WorkingItem.id.label("item"), *columns_of(WorkingItem, WorkingNote), MemoryNote.via)
        .join(MemoryNote, MemoryNote.working_id == WorkingItem.id)
        .where(WorkingItem.scope_id == scope_id, MemoryNote.memory_id == memory)
        .order_by(WorkingItem.said_at, WorkingItem.id)
        .limit(READ)
    )
    return tuple(WorkingNote(**row) for row in connection.execute(query).mappings())


def parts_of(connection: Connection, scope_id: int, memory: UUID) -> tuple[MemoryPart, ...]:
    """Return the memories merged into it."""
    query = (
        select(Memory.id, Memory.content, Memory.status, Memory.valid_from, Memory.valid_to)
        .where(Memory.scope_id == scope_id, Memory.merged_into == memory)
        .order_by(Memory.valid_from, Memory.id)
        .limit(READ)
    )
    return tuple(MemoryPart(**row) for row in connection.execute(query).mappings())


# UNION, not UNION ALL: known rows end the recursion, even if a chain forms a cycle.
_CHAIN = text(
    "WITH RECURSIVE older (id, depth) AS ("
    "  SELECT id, 0 FROM slowwave.memories WHERE id = :memory AND scope_id = :scope"
    "  UNION SELECT m.id, o.depth + 1 FROM older o JOIN slowwave.memories m"
    "    ON m.superseded_by = o.id AND m.scope_id = :scope WHERE o.depth < :depth"
    "), newer (id, next, depth) AS ("
    "  SELECT id, superseded_by, 0 FROM slowwave.memories WHERE id = :memory AND scope_id = :scope"
    "  UNION SELECT m.id, m.superseded_by, n.depth + 1 FROM newer n JOIN slowwave.memories m"
    "    ON m.id = n.next AND m.scope_id = :scope WHERE n.depth < :depth)"
    " SELECT m.id, m.content, m.status, m.valid_from, m.valid_to FROM slowwave.memories m"
    " WHERE m.scope_id = :scope AND m.id IN (SELECT id FROM older UNION SELECT id FROM newer)"
    " ORDER BY coalesce(m.valid_to, 'infinity'), m.valid_from, m.id"
)


def chain_of(connection: Connection, scope_id: int, memory: UUID) -> tuple[MemoryPart, ...]:
    """Return the successive values that include it, oldest first; empty if it is the only one."""
    values = {"memory": memory, "scope": scope_id, "depth": CHAIN_DEPTH}
    chain = tuple(MemoryPart(**row) for row in connection.execute(_CHAIN, values).mappings())
    return chain if len(chain) > 1 else ()


def runs_of(connection: Connection, memory: UUID) -> tuple[MemoryRun, ...]:
    """Return the runs that changed it, oldest first."""
    changed = select(MemoryChange.run_id).where(MemoryChange.memory_id == memory, MemoryChange.run_id.is_not(None))
    query = (
        select(*columns_of(MaintenanceRun, MemoryRun), MaintenanceRun.started_by.label("by"))
        .where(MaintenanceRun.id.in_(changed))
        .order_by(MaintenanceRun.id)
        .limit(READ)
    )
    return tuple(MemoryRun(**row) for row in connection.execute(query).mappings())


def triples_of(connection: Connection, scope_id: int, memory: UUID) -> tuple[MemoryRelation, ...]:
    """Return the triples that it states."""
    query = (
        select(*columns_of(Triple, MemoryRelation))
        .where(Triple.scope_id == scope_id, Triple.memory_id == memory)
        .order_by(Triple.id)
        .limit(READ)
    )
    return tuple(MemoryRelation(**row) for row in connection.execute(query).mappings())
