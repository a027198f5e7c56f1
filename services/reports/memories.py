"""List the memories of a scope, newest first, with the sources of each memory; also for another time.

There are two axes of time: `as_of` selects memories that were valid at a time, `known_at` selects the records and
decisions made by a time.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Connection, Select, exists, func, literal, or_, select, tuple_
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Uuid

from slowwave.memory_types import MemoryStatus, MemoryType
from slowwave_server.models import Agent, Memory, MemorySource, Session
from slowwave_server.services.lookup import find_agent, find_scope, find_session
from slowwave_server.services.memories.file_lines import files_among
from slowwave_server.services.reports.as_of import ScopeAsOf, read_as_of
from slowwave_server.services.reports.text_filter import TextFilter

Moment = date | datetime
SOURCES_SHOWN = 20
"""The largest number of listed sources of one memory; `source_count` is the number of all."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source event of a memory."""

    agent: str
    session: str
    seq: int


@dataclass(frozen=True, slots=True)
class ListedMemory:
    """One memory. sources: source events by session and seq, at most SOURCES_SHOWN of `source_count`; files: the files
    with lines that say it.

    confidence, importance: numbers from 0 to 1. valid_to: None while it is valid.
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
    files: tuple[str, ...]


def list_memories(
    connection: Connection,
    tenant: str,
    agent: str,
    *,
    scope: tuple[str, str] | None = None,
    session: str | None = None,
    status: MemoryStatus | None = None,
    kind: MemoryType | None = None,
    as_of: Moment | None = None,
    known_at: Moment | None = None,
    words: str | None = None,
    before: tuple[datetime, UUID] | None = None,
    limit: int = 50,
    most_changes: int | None = None,
) -> list[ListedMemory]:
    """List the newest memories of an agent's own scope, of `scope` ("room" or "team", name), or of a session's scope.

    session: only memories that come from this session; they belong to the scope that it writes to. Archived memories
    are listed only for this `status`; a merged memory appears as its survivor. as_of: only memories that were valid at
    this time. known_at: the state at this time, with later decisions reverted. A day means its end; times without a
    zone are in the agent's own zone. words: only memories that contain them (`text_filter`). before: the (valid_from,
    id) of the last memory of the previous page. Raises UnknownName for the agent or the session, and InvalidQuery if
    known_at has more than most_changes to revert.
    """
    zone = _zone(connection, tenant, agent)
    wanted = _Wanted(status, kind, _instant(as_of, zone), before)
    scope_id, session_id = _place(connection, tenant, agent, scope, session)
    if scope_id is None:
        return []
    moment = _instant(known_at, zone)
    then = ScopeAsOf()
    if moment is not None:
        then = read_as_of(connection, scope_id, moment, with_sources=session_id is not None, most=most_changes)
    changed = [row for row in then.rows if wanted.admits(row) and _comes_from(then, row["id"], session_id)]
    query = _query(scope_id, session_id, wanted)
    if words is not None:
        wording = TextFilter.read(connection, scope_id, words)
        saying = wording.holding(connection, changed)
        changed = [row for row in changed if row["id"] in saying]
        query = query.where(wording.condition())
    if moment is not None:
        query = query.where(Memory.recorded_at <= moment, Memory.id != func.all(literal([*then.touched], ARRAY(Uuid))))
    unchanged = connection.execute(query.limit(limit)).mappings()
    rows = sorted([*changed, *unchanged], key=lambda row: (row["valid_from"], row["id"]), reverse=True)[:limit]
    return _with_sources(connection, tenant, rows, then)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The filter of a list."""

    status: MemoryStatus | None
    kind: MemoryType | None
    as_of: datetime | None
    before: tuple[datetime, UUID] | None

    def conditions(self) -> Iterator[ColumnElement[bool]]:
        yield Memory.status != "archived" if self.status is None else Memory.status == self.status
        if self.kind is not None:
            yield Memory.type == self.kind
        if self.as_of is not None:
            yield Memory.valid_from <= self.as_of
            yield or_(Memory.valid_to.is_(None), Memory.valid_to > self.as_of)
        if self.before is not None:
            # Compare also the index's own column, because the index would not serve a comparison of rows.
            yield Memory.valid_from <= self.before[0]
            yield tuple_(Memory.valid_from, Memory.id) < self.before

    def admits(self, row: Mapping[str, Any]) -> bool:
        """Return True if the filter matches a row that differs from the table's."""
        if row["status"] == "archived" if self.status is None else row["status"] != self.status:
            return False
        if self.kind is not None and row["type"] != self.kind:
            return False
        if self.before is not None and (row["valid_from"], row["id"]) >= self.before:
            return False
        if self.as_of is None:
            return True
        return row["valid_from"] <= self.as_of and (row["valid_to"] is None or row["valid_to"] > self.as_of)


def _place(
    connection: Connection, tenant: str, agent: str, scope: tuple[str, str] | None, session: str | None
) -> tuple[int | None, int | None]:
    """Return the scope (None if it does not exist) and the session (None if none is named)."""
    if session is None:
        return find_scope(connection, tenant, *(scope or ("agent", agent))), None
    found = find_session(connection, tenant, agent, session)
    return found.scope_id, found.id


def _query(scope_id: int, session_id: int | None, wanted: _Wanted) -> Select[*tuple[Any, ...]]:
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
    ).where(Memory.scope_id == scope_id, *wanted.conditions())
    if session_id is not None:
        query = query.where(exists().where(MemorySource.memory_id == Memory.id, MemorySource.session_id == session_id))
    return query.order_by(Memory.valid_from.desc(), Memory.id.desc())


def _comes_from(then: ScopeAsOf, memory: UUID, session_id: int | None) -> bool:
    return session_id is None or any(source[0] == session_id for source in then.sources.get(memory, ()))


def _zone(connection: Connection, tenant: str, agent: str) -> ZoneInfo:
    agent_id = find_agent(connection, tenant, agent)
    query = select(Agent.time_zone).where(Agent.tenant == tenant, Agent.id == agent_id)
    return ZoneInfo(connection.execute(query).scalar_one())


def _instant(moment: Moment | None, zone: ZoneInfo) -> datetime | None:
    """Convert to a time; a day means its end."""
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        return datetime.combine(moment + timedelta(days=1), time(), zone) - timedelta(microseconds=1)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)


def _with_sources(
    connection: Connection, tenant: str, rows: Sequence[Mapping[str, Any]], then: ScopeAsOf
) -> list[ListedMemory]:
    counts, sources = sources_of(connection, tenant, [row["id"] for row in rows])
    events = {row["id"]: then.sources[row["id"]] for row in rows if row["id"] in then.sources}
    names = _sessions(connection, tenant, {session_id for pairs in events.values() for session_id, _ in pairs})
    for memory, pairs in events.items():
        found = [Source(*names[session_id], seq) for session_id, seq in pairs if session_id in names]
        counts[memory], sources[memory] = len(found), sorted(found, key=lambda source: (source.session, source.seq))
    files: dict[UUID, list[str]] = defaultdict(list)
    for memory, file in files_among(connection, tenant, [row["id"] for row in rows]):
        files[memory].append(file)
    return [
        ListedMemory(
            **row,
            source_count=counts[row["id"]],
            sources=tuple(sources[row["id"]][:SOURCES_SHOWN]),
            files=tuple(files[row["id"]]),
        )
        for row in rows
    ]


def _sessions(connection: Connection, tenant: str, sessions: Collection[int]) -> dict[int, tuple[str, str]]:
    """Return the names of sessions, as (agent, session)."""
    query = (
        select(Session.id, Agent.name.label("agent"), Session.name.label("session"))
        .join(Agent, Agent.id == Session.agent_id)
        .where(Agent.tenant == tenant, Session.id.in_(sessions))
    )
    return {row.id: (row.agent, row.session) for row in connection.execute(query)} if sessions else {}


def sources_of(
    connection: Connection, tenant: str, memories: Sequence[UUID]
) -> tuple[dict[UUID, int], dict[UUID, list[Source]]]:
    """Return the number of sources of each memory, and the first SOURCES_SHOWN sources."""
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
