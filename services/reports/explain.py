"""Explain a memory: its source events and notes with speakers and times, its flush, every later change, and its
relations.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Select, func, select

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.models import (
    Agent,
    Event,
    Flush,
    MaintenanceRun,
    Memory,
    MemoryChange,
    MemorySource,
    Scope,
    Session,
)
from slowwave_server.models.base import columns_of
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memories.file_lines import ReadLine, lines_of
from slowwave_server.services.memories.masking import masked, masked_values
from slowwave_server.services.memories.use import UseCounts, count_uses
from slowwave_server.services.reports import relations

SOURCES_READ = 200
CHANGES_READ = 500


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """An event that says the memory, with secrets masked. via: the id of the merged memory whose words it supports;
    None for these words.
    """

    agent: str
    session: str
    seq: int
    role: str
    name: str | None
    content: str
    happened_at: datetime
    via: UUID | None


@dataclass(frozen=True, slots=True)
class ChangeMade:
    """One change. before, after: the values that differ; flush, run: the number of the flush or run that made it; by:
    the person or program that requested it.
    """

    action: str
    reason: str
    made_at: datetime
    flush: int | None
    run: int | None
    by: str | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class MemoryFlush:
    """A flush that made or touched the memory. from_seq, to_seq: the first and last event of its window."""

    id: int
    agent: str
    session: str
    from_seq: int
    to_seq: int
    extractor: str
    extractor_version: str
    attempt: int
    committed_at: datetime
    fallback: str | None
    fallback_why: str | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """A memory with its reasons. signals: the reasons for keeping it, as the extractor names them.

    confidence, importance: numbers from 0 to 1. sources, changes: oldest first; flushes: in the order of their changes.
    reaffirmed_at: the last time at which it was stated. parts: memories merged into it; chain: the successive values
    including this one, oldest first. lines: lines of files. revision: a number that grows with every change.
    """

    id: UUID
    scope: str
    type: str
    status: str
    content: str
    confidence: float
    importance: float
    learned_importance: float
    trust: str
    entities: tuple[str, ...]
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime
    superseded_by: UUID | None
    archive_reason: str | None
    revision: int
    signals: tuple[str, ...]
    sources: tuple[SourceEvent, ...]
    flushes: tuple[MemoryFlush, ...]
    changes: tuple[ChangeMade, ...]
    reaffirmed_at: datetime
    merged_into: UUID | None
    notes: tuple[relations.WorkingNote, ...]
    runs: tuple[relations.MemoryRun, ...]
    links: tuple[relations.LinkedMemory, ...]
    conflicts: tuple[relations.Conflict, ...]
    questions: tuple[relations.MemoryQuestion, ...]
    parts: tuple[relations.MemoryPart, ...]
    chain: tuple[relations.MemoryPart, ...]
    triples: tuple[relations.MemoryRelation, ...]
    lines: tuple[ReadLine, ...]
    uses: UseCounts

    @property
    def use(self) -> str:
        """The effect of its use on its importance, in words; "" if no context showed it and no reply used it."""
        if self.uses == UseCounts():
            return ""
        shown, used = (f"in {pluralize(number, 'conversation')}" for number in self.uses[:2])
        return f"shown {shown}, used {used}: importance {self.importance:.2f} → {self.learned_importance:.2f}"


def _query(tenant: str, memory: UUID) -> Select[*tuple[Any, ...]]:
    return (
        select(
            *columns_of(Memory, Explanation),
            func.slowwave.learned_importance(Memory.importance, Memory.use_gain).label("learned_importance"),
            Memory.scope_id,
            Scope.kind.label("scope_kind"),
            Scope.name.label("scope_name"),
        )
        .join(Scope, Scope.id == Memory.scope_id)
        .where(Memory.id == memory, Scope.tenant == tenant)
    )


def explain_memory(connection: Connection, tenant: str, memory: UUID, *, reveal: bool = False) -> Explanation:
    """Return all that is known about a memory of `tenant`. Raises UnknownName.

    reveal: True to show texts with their secrets, which only an operator may request (`masking.check_reveal`).
    """
    shown = str if reveal else masked
    query = _query(tenant, memory)
    row = connection.execute(query).mappings().first()
    if row is None:
        raise _unknown(connection, tenant, memory)
    columns = dict(row)
    scope_id = columns.pop("scope_id")
    scope = f"{columns.pop('scope_kind')}:{columns.pop('scope_name')}"
    columns |= {"content": shown(columns["content"]), "entities": tuple(columns["entities"])}
    changes = _changes(connection, memory)
    created = next((change.reason for change in changes if change.action == "created" and change.flush), "")
    return Explanation(
        **columns,
        scope=scope,
        signals=tuple(signal for signal in created.split(", ") if signal),
        sources=tuple(replace(one, content=shown(one.content)) for one in _sources(connection, tenant, memory)),
        flushes=_flushes(connection, tenant, memory),
        changes=changes if reveal else tuple(map(_masked, changes)),
        notes=tuple(
            replace(one, content=shown(one.content)) for one in relations.notes_of(connection, scope_id, memory)
        ),
        runs=relations.runs_of(connection, memory),
        links=relations.links_of(connection, scope_id, memory),
        conflicts=relations.conflicts_of(connection, scope_id, memory),
        questions=relations.questions_of(connection, scope_id, memory),
        parts=relations.parts_of(connection, scope_id, memory),
        chain=relations.chain_of(connection, scope_id, memory),
        triples=relations.triples_of(connection, scope_id, memory),
        lines=lines_of(connection, scope_id, memory),
        uses=count_uses(connection, [memory]).get(memory, UseCounts()),
    )


def _masked(change: ChangeMade) -> ChangeMade:
    before, after = masked_values(change.before), masked_values(change.after)
    return replace(change, reason=masked(change.reason), before=before, after=after)


def _unknown(connection: Connection, tenant: str, memory: UUID) -> UnknownName:
    """Explain an unknown id. An undo deletes the memories that a run made, and leaves its changes."""
    gone = (
        select(MaintenanceRun.id, MaintenanceRun.undoes)
        .join(MemoryChange, MemoryChange.run_id == MaintenanceRun.id)
        .join(Scope, Scope.id == MaintenanceRun.scope_id)
        .where(Scope.tenant == tenant, MaintenanceRun.kind == "undo", MemoryChange.memory_id == memory)
        .order_by(MaintenanceRun.id.desc())
        .limit(1)
    )
    row = connection.execute(gone).first()
    if row is None:
        return UnknownName(f"tenant {tenant!r} has no memory {memory}; `slowwave memory list AGENT` lists them")
    return UnknownName(
        f"tenant {tenant!r} has no memory {memory} any more: run {row.undoes} had made it, and run {row.id} took that"
        f" back; `slowwave run show {row.undoes}` tells of it"
    )


def _sources(connection: Connection, tenant: str, memory: UUID) -> tuple[SourceEvent, ...]:
    query = (
        select(
            Agent.name.label("agent"), Session.name.label("session"), *columns_of(Event, SourceEvent), MemorySource.via
        )
        .join_from(MemorySource, Event, (Event.session_id == MemorySource.session_id) & (Event.seq == MemorySource.seq))
        .join(Session, Session.id == Event.session_id)
        .join(Agent, Agent.id == Session.agent_id)
        .where(Agent.tenant == tenant, MemorySource.memory_id == memory)
        .order_by(Event.happened_at, Session.name, Event.seq)
        .limit(SOURCES_READ)
    )
    rows = connection.execute(query).mappings()
    return tuple(SourceEvent(**row) for row in rows)


def _changes(connection: Connection, memory: UUID) -> tuple[ChangeMade, ...]:
    query = (
        select(
            *columns_of(MemoryChange, ChangeMade),
            MemoryChange.flush_id.label("flush"),
            MemoryChange.run_id.label("run"),
            MemoryChange.made_by.label("by"),
        )
        .where(MemoryChange.memory_id == memory)
        .order_by(MemoryChange.id)
        .limit(CHANGES_READ)
    )
    rows = connection.execute(query).mappings()
    return tuple(ChangeMade(**row) for row in rows)


def _flushes(connection: Connection, tenant: str, memory: UUID) -> tuple[MemoryFlush, ...]:
    query = (
        select(*columns_of(Flush, MemoryFlush), Agent.name.label("agent"), Session.name.label("session"))
        .join(Session, Session.id == Flush.session_id)
        .join(Agent, Agent.id == Session.agent_id)
        .where(
            Agent.tenant == tenant,
            Flush.id.in_(select(MemoryChange.flush_id).where(MemoryChange.memory_id == memory).limit(CHANGES_READ)),
        )
        .order_by(Flush.id)
        .limit(CHANGES_READ)
    )
    rows = connection.execute(query).mappings()
    return tuple(MemoryFlush(**row) for row in rows)
