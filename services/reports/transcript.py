"""Read a session as a conversation: its events in order, each with the memories whose source it is."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, select

from slowwave_server.models import Event, Memory, MemorySource, Scope, Session
from slowwave_server.services.lookup import find_session
from slowwave_server.services.memories.masking import masked

EVENTS_SHOWN = 60
MEMORIES_READ = 500


@dataclass(frozen=True, slots=True)
class ProducedMemory:
    """A memory that names an event as its source."""

    id: UUID
    content: str
    type: str
    status: str
    valid_to: datetime | None


@dataclass(frozen=True, slots=True)
class Utterance:
    """One event. kind: user, assistant, task or tool; tool: the tool's name, None for spoken turns.

    is_result: for a tool event, True if it is the tool's answer, False if it is the call. content: without secrets.
    """

    seq: int
    turn: int
    kind: str
    speaker: str
    tool: str | None
    is_result: bool
    failed: bool
    content: str
    happened_at: datetime
    quarantined: bool
    memories: tuple[ProducedMemory, ...] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """One page of a session, the oldest event first.

    earlier: the argument `before` for the previous page, None if this page has the first event; later: the argument
    `after` for the next page, None if this page has the last event. processed_until: the last seq that a flush has
    read.
    """

    agent: str
    session: str
    scope: str
    utterances: tuple[Utterance, ...]
    last_seq: int
    processed_until: int
    earlier: int | None
    later: int | None


def read_transcript(
    connection: Connection,
    tenant: str,
    agent: str,
    session: str,
    *,
    before: int | None = None,
    after: int | None = None,
    at: int | None = None,
    limit: int = EVENTS_SHOWN,
) -> Transcript:
    """Read one page of a session: `limit` events before or after a seq, or around one; without any, the newest events.

    Raises UnknownName for the agent or the session.
    """
    found = find_session(connection, tenant, agent, session)
    facts = connection.execute(
        select(Session.last_seq, Session.processed_until, Scope.kind, Scope.name)
        .join(Scope, Scope.id == Session.scope_id)
        .where(Session.id == found.id, Scope.tenant == tenant)
    ).one()
    if at is not None:
        after = max(0, at - limit // 3)
    mine = Event.session_id == found.id
    if after is not None:
        rows = _events(connection, mine & (Event.seq > after), limit, newest=False)
    else:
        rows = _events(connection, mine if before is None else mine & (Event.seq < before), limit, newest=True)
    first, last = (rows[0].seq, rows[-1].seq) if rows else (None, None)
    memories = _memories(connection, found.id, [row.seq for row in rows])
    return Transcript(
        agent=agent,
        session=session,
        scope=f"{facts.kind}:{facts.name}",
        utterances=tuple(_utterance(row, memories[row.seq]) for row in rows),
        last_seq=facts.last_seq,
        processed_until=facts.processed_until,
        earlier=first if first is not None and _is_any(connection, mine & (Event.seq < first)) else None,
        later=last if last is not None and _is_any(connection, mine & (Event.seq > last)) else None,
    )


def read_surroundings(
    connection: Connection, tenant: str, places: Iterable[tuple[str, str, int]], *, around: int = 2
) -> dict[tuple[str, str, int], tuple[Utterance, ...]]:
    """Read some events with the turns directly before and after them, without tool calls.

    places: (agent, session, seq); around: the number of seq values before and after each. Deleted events are missing.
    """
    said = {}
    for agent, session, seq in dict.fromkeys(places):
        found = find_session(connection, tenant, agent, session)
        near = (Event.session_id == found.id) & Event.seq.between(seq - around, seq + around)
        rows = _events(connection, near & ((Event.kind != "tool") | (Event.seq == seq)), 2 * around + 1, newest=False)
        said[agent, session, seq] = tuple(_utterance(row, ()) for row in rows)
    return said


def _events(connection: Connection, wanted: ColumnElement[bool], limit: int, *, newest: bool) -> Sequence[Any]:
    """Return events in order; if there are more than `limit`, the newest or the oldest."""
    columns = (
        *(Event.seq, Event.turn, Event.kind, Event.role, Event.name, Event.content, Event.happened_at),
        *(Event.event_metadata.label("metadata"), Event.quarantined_at),
    )
    query = select(*columns).where(wanted).order_by(Event.seq.desc() if newest else Event.seq).limit(limit)
    rows = connection.execute(query).all()
    return rows[::-1] if newest else rows


def _is_any(connection: Connection, wanted: ColumnElement[bool]) -> bool:
    return connection.execute(select(Event.seq).where(wanted).limit(1)).first() is not None


def _memories(connection: Connection, session_id: int, seqs: Sequence[int]) -> dict[int, tuple[ProducedMemory, ...]]:
    found: dict[int, tuple[ProducedMemory, ...]] = defaultdict(tuple)
    if not seqs:
        return found
    query = (
        select(MemorySource.seq, Memory.id, Memory.content, Memory.type, Memory.status, Memory.valid_to)
        .join(Memory, Memory.id == MemorySource.memory_id)
        .where(
            MemorySource.session_id == session_id,
            MemorySource.seq.between(seqs[0], seqs[-1]),
            MemorySource.via.is_(None),
        )
        .order_by(MemorySource.seq, Memory.id)
        .limit(MEMORIES_READ)
    )
    for seq, memory, content, kind, status, valid_to in connection.execute(query):
        found[seq] += (ProducedMemory(memory, masked(content), kind, status, valid_to),)
    return found


def _utterance(row: Any, memories: tuple[ProducedMemory, ...]) -> Utterance:
    metadata = row.metadata or {}
    is_tool = row.kind == "tool"
    return Utterance(
        seq=row.seq,
        turn=row.turn,
        kind=row.kind,
        speaker=row.name or row.role,
        tool=str(metadata.get("tool") or row.name or row.role) if is_tool else None,
        is_result=is_tool and row.role != "tool_call",
        failed=bool(metadata.get("error")),
        content=masked(row.content),
        happened_at=row.happened_at,
        quarantined=row.quarantined_at is not None,
        memories=memories,
    )
