"""Memories as lines of files, and the files of a scope in which each memory has a line."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import date
from uuid import UUID

from sqlalchemy import Connection, text

from slowwave_server.domain.memory_files import FileHeader, FileMemory
from slowwave_server.services.memory_files.disk import CURATED, DAILY

_READ = text(
    "SELECT m.id, m.type, m.content, m.status, m.confidence, m.importance, m.trust, m.entities, m.valid_from,"
    " m.reaffirmed_at, m.valid_to, m.superseded_by, m.revision,"
    " slowwave.local_day(m.valid_from, :zone, :cutoff) AS day,"
    " (SELECT jsonb_agg(jsonb_build_array(s.name, x.seq)) FROM slowwave.memory_sources x"
    "  JOIN slowwave.sessions s ON s.id = x.session_id WHERE x.memory_id = m.id) AS heard,"
    " (SELECT array_agg(CASE k.memory_id WHEN m.id THEN k.conflicting_memory_id ELSE k.memory_id END)"
    "  FROM slowwave.memory_conflicts k WHERE m.id IN (k.memory_id, k.conflicting_memory_id) AND k.status = 'open')"
    "  AS contradicts,"
    " (SELECT jsonb_agg(i.sources) FROM slowwave.memory_imports i WHERE i.memory_id = m.id) AS imported"
    " FROM slowwave.memories m WHERE m.scope_id = :scope AND m.id = ANY(:memories)"
)


@dataclass(frozen=True, slots=True)
class PlacedMemory:
    """A memory of a scope: its line, its revision, and the paths of its files below the scope's folder."""

    memory: FileMemory
    revision: int
    paths: frozenset[str]


def daily_path(day: date) -> str:
    """Return the file of a local day."""
    return f"{DAILY}/{day.isoformat()}.md"


def paths_for(status: str, day: date, *, append_only: bool) -> frozenset[str]:
    """Return a memory's files: MEMORY.md if active, else its day's log; append_only: the log, too."""
    if status == "archived":
        return frozenset()
    if status != "active":
        return frozenset({daily_path(day)})
    return frozenset({CURATED, daily_path(day)}) if append_only else frozenset({CURATED})


def placed_memories(
    connection: Connection, scope_id: int, header: FileHeader, memories: Iterable[UUID], *, append_only: bool
) -> dict[UUID, PlacedMemory]:
    """Return the given memories of the scope, without deleted ones."""
    values = {"scope": scope_id, "zone": header.zone, "cutoff": header.cutoff_hour, "memories": list(memories)}
    found: dict[UUID, PlacedMemory] = {}
    for row in connection.execute(_READ, values):
        sources = {(session, seq) for session, seq in row.heard or ()}
        sources |= {(session, seq) for pairs in row.imported or () for session, seq in pairs}
        lists = {"contradicts": sorted(row.contradicts or ()), "sources": sorted(sources), "entities": row.entities}
        plain = {one.name: getattr(row, one.name) for one in fields(FileMemory) if one.name not in lists}
        memory = FileMemory(**plain | {name: tuple(values) for name, values in lists.items()})
        found[row.id] = PlacedMemory(memory, row.revision, paths_for(row.status, row.day, append_only=append_only))
    return found
