"""What a scope remembers, newest first, with the sources of each memory.

Must not know: search and ranking; how memories are shown.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, exists, func, select

from domain.candidates import MemoryStatus, MemoryType
from models import Agent, Memory, MemorySource, Session
from services.reports.names import find_agent, find_scope, find_session

SOURCES_SHOWN = 20
"""So many sources of one memory are listed; `source_count` tells how many there are."""


@dataclass(frozen=True, slots=True)
class Source:
    """An event that says it."""

    agent: str
    session: str
    seq: int


@dataclass(frozen=True, slots=True)
class ListedMemory:
    """One memory. sources: by session and seq, at most SOURCES_SHOWN of `source_count`.

    confidence and importance: 0..1. valid_to is None while it holds.
    """

    id: UUID
    type: str
    status: str
    content: str
    confidence: float
    importance: float
    trust: str
    valid_from: datetime
    valid_to: datetime | None
    source_count: int
    sources: tuple[Source, ...]


def list_memories(
    connection: Connection,
    tenant: str,
    agent: str,
    *,
    scope: tuple[str, str] | None = None,
    session: str | None = None,
    status: MemoryStatus | None = None,
    kind: MemoryType | None = None,
    limit: int = 50,
) -> list[ListedMemory]:
    """The newest memories of an agent: of its own scope, of `scope` ("room" or "team", name), or of a session's.

    Those that come from `session` lie in the scope that it writes to. Archived ones only where `status` asks for them.
    Raises UnknownName for the agent or the session.
    """
    find_agent(connection, tenant, agent)
    query = select(
        Memory.id,
        Memory.type,
        Memory.status,
        Memory.content,
        Memory.confidence,
        Memory.importance,
        Memory.trust,
        Memory.valid_from,
        Memory.valid_to,
    )
    if session is not None:
        found = find_session(connection, tenant, agent, session)
        scope_id: int | None = found.scope_id
        query = query.where(exists().where(MemorySource.memory_id == Memory.id, MemorySource.session_id == found.id))
    else:
        scope_id = find_scope(connection, tenant, *(scope or ("agent", agent)))
    if scope_id is None:
        return []
    query = query.where(Memory.scope_id == scope_id)
    query = query.where(Memory.status != "archived" if status is None else Memory.status == status)
    if kind is not None:
        query = query.where(Memory.type == kind)
    rows = connection.execute(query.order_by(Memory.valid_from.desc(), Memory.id.desc()).limit(limit)).mappings().all()
    counts, sources = _sources(connection, tenant, [row["id"] for row in rows])
    return [ListedMemory(**row, source_count=counts[row["id"]], sources=tuple(sources[row["id"]])) for row in rows]


def _sources(
    connection: Connection, tenant: str, memories: Sequence[UUID]
) -> tuple[dict[UUID, int], dict[UUID, list[Source]]]:
    """How many sources each memory has, and the first SOURCES_SHOWN of them."""
    order = (Session.name, MemorySource.seq)
    ranked = (
        select(
            MemorySource.memory_id,
            Agent.name.label("agent"),
            Session.name.label("session"),
            MemorySource.seq,
            func.count().over(partition_by=MemorySource.memory_id).label("total"),
            func.row_number().over(partition_by=MemorySource.memory_id, order_by=order).label("place"),
        )
        .join(Session, Session.id == MemorySource.session_id)
        .join(Agent, Agent.id == Session.agent_id)
        .where(Agent.tenant == tenant, MemorySource.memory_id.in_(memories))
        .subquery()
    )
    rows = connection.execute(
        select(ranked).where(ranked.c.place <= SOURCES_SHOWN).order_by(ranked.c.memory_id, ranked.c.place)
    )
    counts: dict[UUID, int] = defaultdict(int)
    sources: dict[UUID, list[Source]] = defaultdict(list)
    for row in rows:
        counts[row.memory_id] = row.total
        sources[row.memory_id].append(Source(row.agent, row.session, row.seq))
    return counts, sources
