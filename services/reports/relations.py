"""Read what relates to a memory: links, conflicts, questions, notes, runs, triples, within the scope (I8)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from slowwave_server.models.driver import Reads, read_rows

READ = 200
"""The largest number of rows of each kind."""
CHAIN_DEPTH = 100

_LINKS = (
    "SELECT CASE WHEN l.source_id = %(memory)s THEN 'to' ELSE 'from' END AS direction, l.predicate, m.id AS memory,"
    " m.content, l.confidence, l.run_id AS run, l.ended_by"
    " FROM slowwave.memory_links l JOIN slowwave.memories m"
    " ON m.id = CASE WHEN l.source_id = %(memory)s THEN l.target_id ELSE l.source_id END"
    " WHERE m.scope_id = %(scope)s AND (l.source_id = %(memory)s OR l.target_id = %(memory)s)"
    " ORDER BY l.id LIMIT %(most)s"
)
_HAS_CONFLICT = "c.scope_id = %(scope)s AND (c.memory_id = %(memory)s OR c.conflicting_memory_id = %(memory)s)"
_CONFLICTS = (
    "SELECT c.id, m.id AS memory, m.content, c.reason, c.evidence, c.status, c.resolution, c.run_id AS run,"
    " c.created_at, c.decided_at, c.decided_by FROM slowwave.memory_conflicts c JOIN slowwave.memories m"
    " ON m.id = CASE WHEN c.memory_id = %(memory)s THEN c.conflicting_memory_id ELSE c.memory_id END"
    f" WHERE {_HAS_CONFLICT} ORDER BY c.id LIMIT %(most)s"
)
_QUESTIONS = (
    "SELECT q.id, q.conflict_id AS conflict, q.why, q.tier, q.state, q.expires_at, q.run_id AS run, q.decided_at,"
    " q.decided_by FROM slowwave.review_items q WHERE q.scope_id = %(scope)s AND (q.memory_id = %(memory)s"
    f" OR q.conflict_id IN (SELECT c.id FROM slowwave.memory_conflicts c WHERE {_HAS_CONFLICT}))"
    " ORDER BY q.id LIMIT %(most)s"
)
_NOTES = (
    "SELECT w.id AS item, w.session, w.content, w.importance, w.marked, w.said_at, w.outcome, n.via"
    " FROM slowwave.working_memory w JOIN slowwave.memory_notes n ON n.working_id = w.id"
    " WHERE w.scope_id = %(scope)s AND n.memory_id = %(memory)s ORDER BY w.said_at, w.id LIMIT %(most)s"
)
_PARTS = (
    "SELECT m.id, m.content, m.status, m.valid_from, m.valid_to FROM slowwave.memories m"
    " WHERE m.scope_id = %(scope)s AND m.merged_into = %(memory)s ORDER BY m.valid_from, m.id LIMIT %(most)s"
)
# UNION, not UNION ALL: known rows end the recursion, even if a chain forms a cycle.
_CHAIN = (
    "WITH RECURSIVE older (id, depth) AS ("
    "  SELECT id, 0 FROM slowwave.memories WHERE id = %(memory)s AND scope_id = %(scope)s"
    "  UNION SELECT m.id, o.depth + 1 FROM older o JOIN slowwave.memories m"
    "    ON m.superseded_by = o.id AND m.scope_id = %(scope)s WHERE o.depth < %(depth)s"
    "), newer (id, next, depth) AS ("
    "  SELECT id, superseded_by, 0 FROM slowwave.memories WHERE id = %(memory)s AND scope_id = %(scope)s"
    "  UNION SELECT m.id, m.superseded_by, n.depth + 1 FROM newer n JOIN slowwave.memories m"
    "    ON m.id = n.next AND m.scope_id = %(scope)s WHERE n.depth < %(depth)s)"
    " SELECT m.id, m.content, m.status, m.valid_from, m.valid_to FROM slowwave.memories m"
    " WHERE m.scope_id = %(scope)s AND m.id IN (SELECT id FROM older UNION SELECT id FROM newer)"
    " ORDER BY coalesce(m.valid_to, 'infinity'), m.valid_from, m.id"
)
_RUNS = (
    "SELECT r.id, r.kind, r.status, r.started_by AS by, r.started_at, r.summary, r.undone_by"
    " FROM slowwave.maintenance_runs r WHERE r.id IN (SELECT c.run_id FROM slowwave.memory_changes c"
    " WHERE c.memory_id = %(memory)s AND c.run_id IS NOT NULL) ORDER BY r.id LIMIT %(most)s"
)
_TRIPLES = (
    "SELECT t.subject, t.subject_type, t.predicate, t.object, t.object_type, t.confidence FROM slowwave.triples t"
    " WHERE t.scope_id = %(scope)s AND t.memory_id = %(memory)s ORDER BY t.id LIMIT %(most)s"
)


@dataclass(frozen=True, slots=True)
class LinkedMemory:
    """A link to or from another memory. confidence: 0 to 1; ended_by: the run that removed the link, if one did."""

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
    """An agent's note that is evidence for the memory. via: the merged memory that brought it."""

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


def links_of(connection: Reads, scope_id: int, memory: UUID) -> tuple[LinkedMemory, ...]:
    """Return its links in both directions, oldest first, including ended ones."""
    return tuple(LinkedMemory(**row) for row in _read(connection, _LINKS, scope_id, memory))


def conflicts_of(connection: Reads, scope_id: int, memory: UUID) -> tuple[Conflict, ...]:
    """Return its conflicts, oldest first, including decided ones."""
    return tuple(Conflict(**row) for row in _read(connection, _CONFLICTS, scope_id, memory))


def questions_of(connection: Reads, scope_id: int, memory: UUID) -> tuple[MemoryQuestion, ...]:
    """Return questions to people about it or its conflicts."""
    return tuple(MemoryQuestion(**row) for row in _read(connection, _QUESTIONS, scope_id, memory))


def notes_of(connection: Reads, scope_id: int, memory: UUID) -> tuple[WorkingNote, ...]:
    """Return the agent's notes that are evidence for it, oldest first."""
    return tuple(WorkingNote(**row) for row in _read(connection, _NOTES, scope_id, memory))


def parts_of(connection: Reads, scope_id: int, memory: UUID) -> tuple[MemoryPart, ...]:
    """Return the memories merged into it."""
    return tuple(MemoryPart(**row) for row in _read(connection, _PARTS, scope_id, memory))


def chain_of(connection: Reads, scope_id: int, memory: UUID) -> tuple[MemoryPart, ...]:
    """Return the successive values that include it, oldest first; empty if it is the only one."""
    values = {"memory": memory, "scope": scope_id, "depth": CHAIN_DEPTH}
    chain = tuple(MemoryPart(**row) for row in read_rows(connection, _CHAIN, values))
    return chain if len(chain) > 1 else ()


def runs_of(connection: Reads, memory: UUID) -> tuple[MemoryRun, ...]:
    """Return the runs that changed it, oldest first."""
    return tuple(MemoryRun(**row) for row in read_rows(connection, _RUNS, {"memory": memory, "most": READ}))


def triples_of(connection: Reads, scope_id: int, memory: UUID) -> tuple[MemoryRelation, ...]:
    """Return the triples that it states."""
    return tuple(MemoryRelation(**row) for row in _read(connection, _TRIPLES, scope_id, memory))


def _read(connection: Reads, query: str, scope_id: int, memory: UUID) -> list[dict[str, Any]]:
    return read_rows(connection, query, {"scope": scope_id, "memory": memory, "most": READ})
