"""Read the sides of a conflict: each memory's text, time, source and events."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, func, select

from slowwave_server.models import Agent, Event, Memory, MemoryNote, MemorySource, Scope, Session
from slowwave_server.services.memories.file_lines import files_among
from slowwave_server.services.memories.masking import masked

SOURCES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class QuotedEvent:
    """A source event as it was recorded, with secrets masked."""

    agent: str
    session: str
    seq: int
    speaker: str
    content: str
    happened_at: datetime


@dataclass(frozen=True, slots=True)
class Side:
    """One memory. sources: the newest SOURCES_SHOWN of `source_count`; noted: the number of agents' notes with it;
    files: the files with lines that say it. revision: a number that grows with every change.

    confidence, importance: numbers from 0 to 1. valid_to: None while it is valid.
    """

    id: UUID
    content: str
    type: str
    status: str
    trust: str
    confidence: float
    importance: float
    valid_from: datetime
    reaffirmed_at: datetime
    valid_to: datetime | None
    superseded_by: UUID | None
    merged_into: UUID | None
    archive_reason: str | None
    revision: int
    source_count: int
    noted: int
    sources: tuple[QuotedEvent, ...]
    files: tuple[str, ...]


_GATHERED = {"source_count", "noted", "sources", "files"}
_PLAIN = tuple(name for name in Side.__dataclass_fields__ if name not in _GATHERED)


def read_sides(connection: Connection, tenant: str, memories: Iterable[UUID]) -> dict[UUID, Side]:
    """Return these memories of `tenant`, including archived ones."""
    wanted = list(set(memories))
    columns = [getattr(Memory, name) for name in _PLAIN]
    query = select(*columns).join(Scope, Scope.id == Memory.scope_id).where(Scope.tenant == tenant)
    rows = connection.execute(query.where(Memory.id.in_(wanted))).mappings().all()
    counts, said = _said(connection, tenant, wanted)
    noted = _noted(connection, [row["id"] for row in rows])
    files: dict[UUID, list[str]] = defaultdict(list)
    for memory, file in files_among(connection, tenant, wanted):
        files[memory].append(file)
    return {
        row["id"]: Side(
            **row,
            source_count=counts[row["id"]],
            noted=noted.get(row["id"], 0),
            sources=tuple(said[row["id"]]),
            files=tuple(files[row["id"]]),
        )
        for row in rows
    }


def _said(
    connection: Connection, tenant: str, memories: list[UUID]
) -> tuple[dict[UUID, int], dict[UUID, list[QuotedEvent]]]:
    ranked = (
        select(
            MemorySource.memory_id,
            Agent.name.label("agent"),
            Session.name.label("session"),
            Event.seq,
            func.coalesce(Event.name, Event.role).label("speaker"),
            Event.content,
            Event.happened_at,
            func.count().over(partition_by=MemorySource.memory_id).label("total"),
            func.row_number()
            .over(
                partition_by=MemorySource.memory_id,
                order_by=(Event.happened_at.desc(), Session.name, Event.seq.desc()),
            )
            .label("place"),
        )
        .join(Event, (Event.session_id == MemorySource.session_id) & (Event.seq == MemorySource.seq))
        .join(Session, Session.id == Event.session_id)
        .join(Agent, Agent.id == Session.agent_id)
        .where(Agent.tenant == tenant, MemorySource.memory_id.in_(memories))
        .subquery()
    )
    query = select(ranked).where(ranked.c.place <= SOURCES_SHOWN).order_by(ranked.c.memory_id, ranked.c.place)
    counts: dict[UUID, int] = defaultdict(int)
    said: dict[UUID, list[QuotedEvent]] = defaultdict(list)
    for row in connection.execute(query):
        counts[row.memory_id] = row.total
        content = masked(row.content)
        said[row.memory_id].append(QuotedEvent(row.agent, row.session, row.seq, row.speaker, content, row.happened_at))
    return counts, said


def _noted(connection: Connection, memories: list[UUID]) -> dict[UUID, int]:
    query = (
        select(MemoryNote.memory_id, func.count().label("noted"))
        .where(MemoryNote.memory_id.in_(memories))
        .group_by(MemoryNote.memory_id)
    )
    return {row.memory_id: row.noted for row in connection.execute(query)}
