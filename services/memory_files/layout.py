"""Assign the memories of a scope to memory files: all ids by file, and the memories of one file at a time.

Only the ids of a large scope are in memory at once, never all of its memories.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from uuid import UUID

from sqlalchemy import Connection, text

from slowwave_server.domain.memory_files import FileHeader, FileMemory, FileSummary
from slowwave_server.domain.memory_files.rendering import TITLES
from slowwave_server.services.memory_files.disk import CURATED
from slowwave_server.services.memory_files.placement import PlacedMemory, daily_path, paths_for, placed_memories

BATCH = 1000
_LIVE = text(
    "SELECT m.id, m.type, m.status, slowwave.local_day(m.valid_from, :zone, :cutoff) AS day"
    " FROM slowwave.memories m WHERE m.scope_id = :scope AND m.status <> 'archived' ORDER BY m.id"
)
_STANDS_FOR = text(
    "SELECT m.id, l.id AS live FROM slowwave.memories m"
    " JOIN slowwave.memories l ON l.id = coalesce(m.merged_into, m.id) AND l.status <> 'archived'"
    " WHERE m.scope_id = :scope AND m.id = ANY(:memories)"
)
_SUMMARIES = text(
    "SELECT DISTINCT ON (s.day, s.agent_id) s.day, a.name AS agent, s.version, s.final, s.messages, s.segments,"
    " s.summarizer, s.created_at AS made_at, s.text, s.lines"
    " FROM slowwave.day_summaries s JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE s.scope_id = :scope AND (CAST(:days AS date[]) IS NULL OR s.day = ANY(CAST(:days AS date[])))"
    " ORDER BY s.day, s.agent_id, s.version DESC"
)


@dataclass(frozen=True, slots=True)
class FileLayout:
    """The files of a scope. ids: the memories' ids, in the order of each file; summaries: the summaries, by day."""

    scope_id: int
    header: FileHeader
    append_only: bool
    ids: Mapping[str, Sequence[UUID]]
    summaries: Mapping[date, Sequence[FileSummary]]

    @property
    def paths(self) -> list[str]:
        """Return all files of the scope; MEMORY.md is always the first."""
        days = {path for path in self.ids if path != CURATED} | {daily_path(day) for day in self.summaries}
        return [CURATED, *sorted(days)]

    def memories(self, connection: Connection, path: str) -> Iterator[FileMemory]:
        """Return the memories of one file, in its order."""
        waiting = iter(self.ids.get(path, ()))
        while batch := list(islice(waiting, BATCH)):
            found = self.placed_memories(connection, batch)
            ends = {at.memory.superseded_by for at in found.values()} - {None}
            live = dict(self._live(connection, list(ends)))
            for memory in (found[identity].memory for identity in batch if identity in found):
                by = memory.superseded_by
                yield memory if by is None else replace(memory, superseded_by=live.get(by))

    def _live(self, connection: Connection, memories: list[UUID | None]) -> Iterator[tuple[UUID, UUID]]:
        """Return the live memory for each id: itself, or the one into which it was merged; without the others."""
        if memories:
            for row in connection.execute(_STANDS_FOR, {"scope": self.scope_id, "memories": memories}):
                yield row.id, row.live

    def placed_memories(self, connection: Connection, memories: Iterable[UUID]) -> dict[UUID, PlacedMemory]:
        """Return these memories of the scope, by id."""
        return placed_memories(connection, self.scope_id, self.header, memories, append_only=self.append_only)


def read_layout(connection: Connection, scope_id: int, header: FileHeader, *, append_only: bool) -> FileLayout:
    """Read which memories belong to which file."""
    ids: dict[str, list[UUID]] = defaultdict(list)
    curated: dict[str, list[UUID]] = {kind: [] for kind in TITLES}
    values = {"scope": scope_id, "zone": header.zone, "cutoff": header.cutoff_hour}
    for row in connection.execute(_LIVE, values):
        for path in paths_for(row.status, row.day, append_only=append_only):
            (curated[row.type] if path == CURATED else ids[path]).append(row.id)
    ids[CURATED] = [memory for part in curated.values() for memory in part]
    return FileLayout(scope_id, header, append_only, dict(ids), summaries_of(connection, scope_id))


def summaries_of(
    connection: Connection, scope_id: int, only: Iterable[date] | None = None
) -> dict[date, list[FileSummary]]:
    """Return the newest summaries of a scope's days, by agent: of all days with one, or of the given days."""
    days: dict[date, list[FileSummary]] = defaultdict(list, {day: [] for day in only or ()})
    wanted = {"scope": scope_id, "days": None if only is None else list(only)}
    for row in connection.execute(_SUMMARIES, wanted).mappings():
        plain = {name: value for name, value in row.items() if name != "day"}
        days[row["day"]].append(FileSummary(**plain | {"lines": tuple(row["lines"])}))
    return {day: sorted(found, key=lambda summary: summary.agent) for day, found in days.items()}
