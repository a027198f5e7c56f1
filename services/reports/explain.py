"""Explain a memory: its events and notes with speakers and times, its flush, changes, and relations."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.models.driver import Reads, read_rows
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memories.file_lines import ReadLine, lines_of
from slowwave_server.services.memories.masking import masked, masked_values
from slowwave_server.services.memories.use_counts import UseCounts, count_uses
from slowwave_server.services.reports import relations

SOURCES_READ = 200
CHANGES_READ = 500

_MEMORY = (
    "SELECT m.id, m.type, m.status, m.content, m.confidence, m.importance, m.trust, m.entities, m.valid_from,"
    " m.valid_to, m.recorded_at, m.superseded_by, m.archive_reason, m.revision, m.reaffirmed_at, m.merged_into,"
    " m.scope_id, slowwave.learned_importance(m.importance, m.use_gain) AS learned_importance,"
    " k.kind || ':' || k.name AS scope"
    " FROM slowwave.memories m JOIN slowwave.scopes k ON k.id = m.scope_id"
    " WHERE m.id = %(memory)s AND k.tenant = %(tenant)s"
)
_TAKEN_BACK = (
    "SELECT r.id, r.undoes FROM slowwave.maintenance_runs r JOIN slowwave.memory_changes c ON c.run_id = r.id"
    " JOIN slowwave.scopes k ON k.id = r.scope_id"
    " WHERE k.tenant = %(tenant)s AND r.kind = 'undo' AND c.memory_id = %(memory)s ORDER BY r.id DESC LIMIT 1"
)
_SOURCES = (
    "SELECT a.name AS agent, s.name AS session, e.seq, e.role, e.name, e.content, e.happened_at, x.via"
    " FROM slowwave.memory_sources x JOIN slowwave.events e ON e.session_id = x.session_id AND e.seq = x.seq"
    " JOIN slowwave.sessions s ON s.id = e.session_id JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE a.tenant = %(tenant)s AND x.memory_id = %(memory)s ORDER BY e.happened_at, s.name, e.seq LIMIT %(most)s"
)
_CHANGES = (
    "SELECT c.action, c.reason, c.made_at, c.flush_id AS flush, c.run_id AS run, c.made_by AS by, c.before, c.after"
    " FROM slowwave.memory_changes c WHERE c.memory_id = %(memory)s ORDER BY c.id LIMIT %(most)s"
)
_FLUSHES = (
    "SELECT f.id, a.name AS agent, s.name AS session, f.from_seq, f.to_seq, f.extractor, f.extractor_version,"
    " f.attempt, f.committed_at, f.fallback, f.fallback_why"
    " FROM slowwave.flushes f JOIN slowwave.sessions s ON s.id = f.session_id"
    " JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE a.tenant = %(tenant)s AND f.id IN (SELECT c.flush_id FROM slowwave.memory_changes c"
    " WHERE c.memory_id = %(memory)s LIMIT %(most)s) ORDER BY f.id LIMIT %(most)s"
)


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """An event that says the memory, with secrets masked. via: the merged memory whose words it supports."""

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
    """One change. before, after: the values that differ; by: the person or program that requested it."""

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


def explain_memory(connection: Reads, tenant: str, memory: UUID, *, reveal: bool = False) -> Explanation:
    """Return all that is known about a memory of `tenant`. Raises UnknownName.

    reveal: True to show texts with their secrets, which only an operator may request (`masking.check_reveal`).
    """
    shown = str if reveal else masked
    found = read_rows(connection, _MEMORY, {"tenant": tenant, "memory": memory})
    if not found:
        raise _unknown(connection, tenant, memory)
    (columns,) = found
    scope_id = columns.pop("scope_id")
    columns |= {"content": shown(columns["content"]), "entities": tuple(columns["entities"])}
    changes = _changes(connection, memory)
    created = next((change.reason for change in changes if change.action == "created" and change.flush), "")
    return Explanation(
        **columns,
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


def _unknown(connection: Reads, tenant: str, memory: UUID) -> UnknownName:
    """Explain an unknown id. An undo deletes the memories that a run made, and leaves its changes."""
    found = read_rows(connection, _TAKEN_BACK, {"tenant": tenant, "memory": memory})
    if not found:
        return UnknownName(f"tenant {tenant!r} has no memory {memory}; `slowwave memory list AGENT` lists them")
    undo, made = found[0]["id"], found[0]["undoes"]
    return UnknownName(
        f"tenant {tenant!r} has no memory {memory} any more: run {made} had made it, and run {undo} took that"
        f" back; `slowwave run show {made}` tells of it"
    )


def _sources(connection: Reads, tenant: str, memory: UUID) -> tuple[SourceEvent, ...]:
    values = {"tenant": tenant, "memory": memory, "most": SOURCES_READ}
    return tuple(SourceEvent(**row) for row in read_rows(connection, _SOURCES, values))


def _changes(connection: Reads, memory: UUID) -> tuple[ChangeMade, ...]:
    values = {"memory": memory, "most": CHANGES_READ}
    return tuple(ChangeMade(**row) for row in read_rows(connection, _CHANGES, values))


def _flushes(connection: Reads, tenant: str, memory: UUID) -> tuple[MemoryFlush, ...]:
    values = {"tenant": tenant, "memory": memory, "most": CHANGES_READ}
    return tuple(MemoryFlush(**row) for row in read_rows(connection, _FLUSHES, values))
