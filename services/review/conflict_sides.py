"""Read the sides of a conflict: each memory's text, time, source and events."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from slowwave_server.models.driver import Reads, read_rows
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
    """One memory. sources: the newest SOURCES_SHOWN of `source_count`; noted: the number of agents' notes with this
    memory; files: the files with lines that say it. revision: a number that grows with every change.

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
_PLAIN = ", ".join(f"m.{name}" for name in Side.__dataclass_fields__ if name not in _GATHERED)
_MEMORIES = (
    f"SELECT {_PLAIN} FROM slowwave.memories m JOIN slowwave.scopes k ON k.id = m.scope_id"
    " WHERE k.tenant = %(tenant)s AND m.id = ANY(%(memories)s)"
)
_EVENTS = (
    "SELECT * FROM (SELECT x.memory_id, a.name AS agent, s.name AS session, e.seq,"
    " coalesce(e.name, e.role) AS speaker, e.content, e.happened_at,"
    " count(*) OVER (PARTITION BY x.memory_id) AS total, row_number() OVER"
    " (PARTITION BY x.memory_id ORDER BY e.happened_at DESC, s.name, e.seq DESC) AS place"
    " FROM slowwave.memory_sources x JOIN slowwave.events e ON e.session_id = x.session_id AND e.seq = x.seq"
    " JOIN slowwave.sessions s ON s.id = e.session_id JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE a.tenant = %(tenant)s AND x.memory_id = ANY(%(memories)s)) ranked"
    " WHERE place <= %(most)s ORDER BY memory_id, place"
)
_NOTES = (
    "SELECT memory_id, count(*) AS noted FROM slowwave.memory_notes WHERE memory_id = ANY(%(memories)s)"
    " GROUP BY memory_id"
)


def read_sides(connection: Reads, tenant: str, memories: Iterable[UUID]) -> dict[UUID, Side]:
    """Return these memories of `tenant`, including archived ones."""
    wanted = list(set(memories))
    if not wanted:
        # With an empty array, Postgres considers each partial index of memories: planning takes 300 times as long.
        return {}
    rows = read_rows(connection, _MEMORIES, {"tenant": tenant, "memories": wanted})
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
    connection: Reads, tenant: str, memories: list[UUID]
) -> tuple[dict[UUID, int], dict[UUID, list[QuotedEvent]]]:
    counts: dict[UUID, int] = defaultdict(int)
    said: dict[UUID, list[QuotedEvent]] = defaultdict(list)
    for row in read_rows(connection, _EVENTS, {"tenant": tenant, "memories": memories, "most": SOURCES_SHOWN}):
        counts[row["memory_id"]] = row["total"]
        told = {name: row[name] for name in ("agent", "session", "seq", "speaker", "happened_at")}
        said[row["memory_id"]].append(QuotedEvent(**told, content=masked(row["content"])))
    return counts, said


def _noted(connection: Reads, memories: list[UUID]) -> dict[UUID, int]:
    found = read_rows(connection, _NOTES, {"memories": memories})
    return {row["memory_id"]: row["noted"] for row in found}
