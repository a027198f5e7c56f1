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

import psycopg

from slowwave.memory_records import MemorySource
from slowwave.memory_types import MemoryStatus, MemoryType
from slowwave_server.models.driver import Reads, read_rows
from slowwave_server.services.lookup import find_agent, find_scope, find_session
from slowwave_server.services.memories.file_lines import files_among
from slowwave_server.services.reports.scope_as_of import ScopeAsOf

Moment = date | datetime
SOURCES_SHOWN = 20
"""The largest number of listed sources of one memory; `source_count` is the number of all."""

_COLUMNS = "m.id, m.type, m.status, m.content, m.confidence, m.importance, m.trust, m.valid_from, m.valid_to"
_FROM_SESSION = "EXISTS (SELECT FROM slowwave.memory_sources s WHERE s.memory_id = m.id AND s.session_id = %(session)s)"
_ZONE = "SELECT time_zone FROM slowwave.agents WHERE tenant = %(tenant)s AND id = %(agent)s"
_SESSIONS = (
    "SELECT s.id, a.name AS agent, s.name AS session FROM slowwave.sessions s"
    " JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.tenant = %(tenant)s AND s.id = ANY(%(sessions)s)"
)
_SOURCES = (
    "SELECT * FROM (SELECT x.memory_id, a.name AS agent, s.name AS session, x.seq,"
    " count(*) OVER (PARTITION BY x.memory_id) AS total,"
    " row_number() OVER (PARTITION BY x.memory_id ORDER BY s.name, x.seq) AS place"
    " FROM slowwave.memory_sources x JOIN slowwave.sessions s ON s.id = x.session_id"
    " JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE a.tenant = %(tenant)s AND x.memory_id = ANY(%(memories)s)) ranked"
    " WHERE place <= %(most)s ORDER BY memory_id, place"
)


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
    sources: tuple[MemorySource, ...]
    files: tuple[str, ...]


def list_memories(
    connection: Reads,
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
    id) of the last memory of the previous page. known_at and words need a connection of SQLAlchemy. Raises UnknownName
    for the agent or the session, and InvalidQuery if known_at has more than most_changes to revert.
    """
    zone = _zone(connection, tenant, agent)
    scope_id, session_id = _place(connection, tenant, agent, scope, session)
    if scope_id is None:
        return []
    wanted = _Wanted(scope_id, session_id, status, kind, _instant(as_of, zone), before)
    moment = _instant(known_at, zone)
    then = _known_at(connection, scope_id, moment, with_sources=session_id is not None, most=most_changes)
    changed = [row for row in then.rows if wanted.admits(row) and _comes_from(then, row["id"], session_id)]
    conditions, values = [*wanted.conditions()], wanted.values() | {"limit": limit}
    if words is not None:
        condition, value, changed = _holding(connection, scope_id, words, changed)
        conditions.append(condition)
        values["words"] = value
    if moment is not None:
        conditions.append("m.recorded_at <= %(moment)s AND m.id <> ALL(CAST(%(touched)s AS uuid[]))")
        values |= {"moment": moment, "touched": list(then.touched)}
    unchanged = read_rows(connection, _query(conditions), values)
    rows = sorted([*changed, *unchanged], key=lambda row: (row["valid_from"], row["id"]), reverse=True)[:limit]
    return _with_sources(connection, tenant, rows, then)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The filter of a list."""

    scope_id: int
    session_id: int | None
    status: MemoryStatus | None
    kind: MemoryType | None
    as_of: datetime | None
    before: tuple[datetime, UUID] | None

    def conditions(self) -> Iterator[str]:
        yield "m.scope_id = %(scope)s"
        if self.session_id is not None:
            yield _FROM_SESSION
        if self.status == "review":
            yield "m.status = 'review'"  # not as a parameter, so that prepared statements use the index, too
        else:
            yield "m.status <> 'archived'" if self.status is None else "m.status = %(status)s"
        if self.kind is not None:
            yield "m.type = %(kind)s"
        if self.as_of is not None:
            yield "m.valid_from <= %(as_of)s AND (m.valid_to IS NULL OR m.valid_to > %(as_of)s)"
        if self.before is not None:
            # Compare also the index's own column, because the index would not serve a comparison of rows.
            yield "m.valid_from <= %(before)s AND (m.valid_from, m.id) < (%(before)s, %(before_id)s)"

    def values(self) -> dict[str, Any]:
        before, before_id = self.before or (None, None)
        values = {"scope": self.scope_id, "session": self.session_id, "status": self.status, "kind": self.kind}
        return {**values, "as_of": self.as_of, "before": before, "before_id": before_id}

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
    connection: Reads, tenant: str, agent: str, scope: tuple[str, str] | None, session: str | None
) -> tuple[int | None, int | None]:
    """Return the scope (None if it does not exist) and the session (None if none is named)."""
    if session is None:
        return find_scope(connection, tenant, *(scope or ("agent", agent))), None
    found = find_session(connection, tenant, agent, session)
    return found.scope_id, found.id


def _query(conditions: Sequence[str]) -> str:
    return (
        f"SELECT {_COLUMNS} FROM slowwave.memories m WHERE {' AND '.join(conditions)}"
        " ORDER BY m.valid_from DESC, m.id DESC LIMIT %(limit)s"
    )


# These two need SQLAlchemy, which takes longer to import than most lists to read.
def _known_at(
    connection: Reads, scope_id: int, moment: datetime | None, *, with_sources: bool, most: int | None
) -> ScopeAsOf:
    if moment is None:
        return ScopeAsOf()
    from slowwave_server.services.reports.as_of import read_as_of  # noqa: PLC0415

    if isinstance(connection, psycopg.Connection):
        raise TypeError("known_at needs a connection of SQLAlchemy")
    return read_as_of(connection, scope_id, moment, with_sources=with_sources, most=most)


def _holding(
    connection: Reads, scope_id: int, words: str, changed: Sequence[dict[str, Any]]
) -> tuple[str, str, list[dict[str, Any]]]:
    """Return the SQL condition for memories that contain the words, its parameter, and those rows that contain them."""
    from slowwave_server.services.reports.text_filter import TextFilter  # noqa: PLC0415

    if isinstance(connection, psycopg.Connection):
        raise TypeError("words need a connection of SQLAlchemy")
    wording = TextFilter.read(connection, scope_id, words)
    saying = wording.holding(connection, changed)
    return wording.condition(), wording.value(), [row for row in changed if row["id"] in saying]


def _comes_from(then: ScopeAsOf, memory: UUID, session_id: int | None) -> bool:
    return session_id is None or any(source[0] == session_id for source in then.sources.get(memory, ()))


def _zone(connection: Reads, tenant: str, agent: str) -> ZoneInfo:
    agent_id = find_agent(connection, tenant, agent)
    (row,) = read_rows(connection, _ZONE, {"tenant": tenant, "agent": agent_id})
    return ZoneInfo(row["time_zone"])


def _instant(moment: Moment | None, zone: ZoneInfo) -> datetime | None:
    """Convert to a time; a day means its end."""
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        return datetime.combine(moment + timedelta(days=1), time(), zone) - timedelta(microseconds=1)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)


def _with_sources(
    connection: Reads, tenant: str, rows: Sequence[Mapping[str, Any]], then: ScopeAsOf
) -> list[ListedMemory]:
    counts, sources = sources_of(connection, tenant, [row["id"] for row in rows])
    events = {row["id"]: then.sources[row["id"]] for row in rows if row["id"] in then.sources}
    names = _sessions(connection, tenant, {session_id for pairs in events.values() for session_id, _ in pairs})
    for memory, pairs in events.items():
        found = [MemorySource(*names[session_id], seq) for session_id, seq in pairs if session_id in names]
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


def _sessions(connection: Reads, tenant: str, sessions: Collection[int]) -> dict[int, tuple[str, str]]:
    """Return the names of sessions, as (agent, session)."""
    found = read_rows(connection, _SESSIONS, {"tenant": tenant, "sessions": list(sessions)}) if sessions else []
    return {row["id"]: (row["agent"], row["session"]) for row in found}


def sources_of(
    connection: Reads, tenant: str, memories: Sequence[UUID]
) -> tuple[dict[UUID, int], dict[UUID, list[MemorySource]]]:
    """Return the number of sources of each memory, and the first SOURCES_SHOWN sources."""
    values = {"tenant": tenant, "memories": list(memories), "most": SOURCES_SHOWN}
    counts: dict[UUID, int] = defaultdict(int)
    sources: dict[UUID, list[MemorySource]] = defaultdict(list)
    for row in read_rows(connection, _SOURCES, values):
        counts[row["memory_id"]] = row["total"]
        sources[row["memory_id"]].append(MemorySource(row["agent"], row["session"], row["seq"]))
    return counts, sources
