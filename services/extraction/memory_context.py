"""Read the context of a window for a model: related memories, and notes of the same day, of one scope only (I8).

Only memories from before the window's first event count, by event time, so a window of an imported history does not see
its own future. Ended and archived memories, and those that wait
for a person's decision, are left out.

Everything is read before a model is asked: no transaction stays open.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, cast
from uuid import UUID
from zoneinfo import ZoneInfo

import psycopg
from sqlalchemy import Connection, Engine, Row, text
from sqlalchemy.exc import OperationalError

from slowwave.recall.query_steps import run
from slowwave.recall.rendering import one_line, shorten
from slowwave.recall.scopes import Reader
from slowwave.recall.search import find_steps, scope_stats_steps
from slowwave.settings import MemoryContext
from slowwave_server.domain.candidates import ExtractionContext
from slowwave_server.domain.dates import local_day
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_extraction import KnownContext, KnownMemory, is_presentable

MORE_HITS = 4
"""A search reads this many times the memories of a prompt, because some hits are of a later day, or have ended."""

_SCOPE = text("SELECT k.kind, k.name FROM slowwave.scopes k WHERE k.id = :scope AND k.tenant = :tenant")
_MEMORIES = (
    "SELECT m.id, m.content, m.valid_from FROM slowwave.memories m"
    " WHERE m.scope_id = :scope AND m.status IN ('inbox', 'episode', 'active') AND m.valid_from < :before"
    " AND m.valid_to IS NULL AND m.superseded_by IS NULL AND ("
    "  EXISTS (SELECT FROM slowwave.memory_sources x"
    "   LEFT JOIN slowwave.events e ON e.session_id = x.session_id AND e.seq = x.seq"
    "   WHERE x.memory_id = m.id AND x.via IS NULL AND coalesce(e.happened_at, x.holds_from) < :before)"
    "  OR EXISTS (SELECT FROM slowwave.memory_notes n WHERE n.memory_id = m.id AND n.holds_from < :before)"
    "  OR EXISTS (SELECT FROM slowwave.memory_imports i WHERE i.memory_id = m.id AND i.holds_from < :before))"
)
_FOUND = text(f"{_MEMORIES} AND m.id = ANY(:ids)")
# Only one day's memories, so that the cost does not grow with the scope.
_NOTED = text(f"{_MEMORIES} AND m.valid_from >= :since ORDER BY m.valid_from DESC, m.id DESC LIMIT :most")
_SUMMARY = text(
    "SELECT s.lines FROM slowwave.day_summaries s WHERE s.scope_id = :scope AND s.day = :day"
    " ORDER BY s.version DESC, s.id DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class ScopeKnowledge:
    """Reads the known memories of the window's own scope, within the settings' limits (with 0, nothing)."""

    engine: Engine
    bounds: MemoryContext

    def read(self, context: ExtractionContext, words: str, before: datetime) -> KnownContext:
        """Read the context of a window from `before` on. words: of the window, newest first. Raises TransientError."""
        if context.scope_id is None or not (self.bounds.daily_tail_lines or self.bounds.memory_snippets):
            return KnownContext()
        with self.engine.connect() as connection:
            try:
                return self._read(connection, context, context.scope_id, words, before)
            except (psycopg.OperationalError, OperationalError) as error:
                # The connection broke beneath SQLAlchemy, which would otherwise hand it out again.
                connection.invalidate()
                raise TransientError("what is known already can't be read: Postgres is not reachable") from error

    def _read(
        self, connection: Connection, context: ExtractionContext, scope_id: int, words: str, before: datetime
    ) -> KnownContext:
        scope = connection.execute(_SCOPE, {"scope": scope_id, "tenant": context.tenant}).first()
        if scope is None:
            return KnownContext()
        place = _Place(scope_id, before, local_day(before, context.time_zone), context.time_zone)
        found = self._found(
            connection, place, Reader(context.tenant, context.agent, ((scope.kind, scope.name),)), words
        )
        noted = self._noted(connection, place)
        ids = {memory.id for memory in found}
        memories = (*found, *(memory for memory in noted if memory.id not in ids))
        return KnownContext(
            memories, self._lines(connection, place, self.bounds.daily_tail_lines - len(noted), memories)
        )

    def _found(self, connection: Connection, place: "_Place", reader: Reader, words: str) -> tuple[KnownMemory, ...]:
        """Return memories about the same subject as the window, most similar first."""
        if not self.bounds.memory_snippets:
            return ()
        plain = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
        stats = run(plain, scope_stats_steps(reader, words))
        hits = run(plain, find_steps(stats, limit=MORE_HITS * self.bounds.memory_snippets, events=False))
        ids = [UUID(hit.id) for hit in hits]
        if not ids:
            return ()  # Postgres plans a search for no id slowly
        rows = {row.id: row for row in connection.execute(_FOUND, {**place.values, "ids": ids})}
        standing = self._presentable(place, (rows[key] for key in ids if key in rows))
        return standing[: self.bounds.memory_snippets]

    def _noted(self, connection: Connection, place: "_Place") -> tuple[KnownMemory, ...]:
        """Return the newest memories of the day, in order of time."""
        if not self.bounds.daily_tail_lines:
            return ()
        since = datetime.combine(place.day, time.min, ZoneInfo(place.zone))
        values = {**place.values, "since": since, "most": self.bounds.daily_tail_lines}
        return tuple(reversed(self._presentable(place, connection.execute(_NOTED, values))))

    def _presentable(self, place: "_Place", rows: Iterable[Row[Any]]) -> tuple[KnownMemory, ...]:
        return tuple(
            KnownMemory(self._short(row.content), local_day(row.valid_from, place.zone), row.id)
            for row in rows
            if is_presentable(row.content)
        )

    def _lines(
        self, connection: Connection, place: "_Place", room: int, memories: tuple[KnownMemory, ...]
    ) -> tuple[str, ...]:
        """Return lines of the day's summary from before the window, each with its time, if there is room."""
        if room <= 0:
            return ()
        lines = connection.execute(_SUMMARY, {"scope": place.scope_id, "day": place.day}).scalar() or []
        known = {memory.content for memory in memories}
        earlier = [line for line in lines if _at(line) < place.before and line["text"] not in known]
        told = [
            f"{_at(line).astimezone(ZoneInfo(place.zone)):%H:%M} {line['speaker']}: {line['text']}" for line in earlier
        ]
        return tuple(dict.fromkeys(self._short(line) for line in told[-room:] if is_presentable(line)))

    def _short(self, line: str) -> str:
        return shorten(one_line(line), self.bounds.snippet_max_chars)


@dataclass(frozen=True, slots=True)
class _Place:
    """The owner of the memories, and the time of the read. day: the window's first day in the agent's time zone."""

    scope_id: int
    before: datetime
    day: date
    zone: str

    @property
    def values(self) -> dict[str, Any]:
        return {"scope": self.scope_id, "before": self.before}


def _at(line: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(line["at"])
