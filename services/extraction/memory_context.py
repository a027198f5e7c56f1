"""What a model is told beside a window: notes of the same day, memories that speak of the same. One scope only (I8).

Read and done with before a model is asked: no transaction stays open.

Must not know: what a prompt looks like, who is asked.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, cast
from zoneinfo import ZoneInfo

import psycopg
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import OperationalError

from slowwave.recall.finding import find_steps, library_steps
from slowwave.recall.rendering import one_line, shorten
from slowwave.recall.scopes import Reader
from slowwave.recall.steps import run
from slowwave.settings import MemoryContext
from slowwave_server.domain.candidates import ExtractionContext
from slowwave_server.domain.dates import local_day
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_extraction import Known

_SCOPE = text("SELECT k.kind, k.name FROM slowwave.scopes k WHERE k.id = :scope AND k.tenant = :tenant")
# One day's, so that the number of a scope's memories doesn't matter.
_NOTED = text(
    "SELECT m.content FROM slowwave.memories m WHERE m.scope_id = :scope AND m.status IN ('inbox', 'episode', 'active')"
    " AND m.valid_from >= :since AND m.valid_from < :until ORDER BY m.valid_from DESC, m.id DESC LIMIT :most"
)
_SUMMARY = text(
    "SELECT s.lines FROM slowwave.day_summaries s WHERE s.scope_id = :scope AND s.day = :day"
    " ORDER BY s.version DESC, s.id DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class ScopeKnowledge:
    """Reads what the window's own scope knows, within the bounds of the settings (of 0 nothing is read)."""

    engine: Engine
    bounds: MemoryContext

    def read(self, context: ExtractionContext, words: str, at: datetime) -> Known:
        """words: what the window says, the newest first; at: when its last event was said.

        Raises TransientError where Postgres can't be reached.
        """
        if context.scope_id is None or not (self.bounds.daily_tail_lines or self.bounds.memory_snippets):
            return Known()
        with self.engine.connect() as connection:
            try:
                scope = connection.execute(_SCOPE, {"scope": context.scope_id, "tenant": context.tenant}).first()
                if scope is None:
                    return Known()
                found = self._found(
                    connection, Reader(context.tenant, context.agent, ((scope.kind, scope.name),)), words
                )
                notes = self._notes(connection, context.scope_id, local_day(at, context.time_zone), context.time_zone)
            except (psycopg.OperationalError, OperationalError) as error:
                # Broken beneath SQLAlchemy, which would hand it out again.
                connection.invalidate()
                raise TransientError("what is known already can't be read: Postgres is not reachable") from error
        return Known(tuple(line for line in notes if line not in found), found)

    def _found(self, connection: Connection, reader: Reader, words: str) -> tuple[str, ...]:
        if not self.bounds.memory_snippets:
            return ()
        plain = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
        library = run(plain, library_steps(reader, words))
        hits = run(plain, find_steps(library, limit=self.bounds.memory_snippets, events=False))
        return self._bounded(hit.content for hit in hits)

    def _notes(self, connection: Connection, scope: int, day: date, zone: str) -> tuple[str, ...]:
        """The day's memories, and lines of its summary where there is room: the newest, oldest first."""
        most = self.bounds.daily_tail_lines
        if not most:
            return ()
        since = datetime.combine(day, time.min, ZoneInfo(zone))
        until = datetime.combine(day + timedelta(days=1), time.min, ZoneInfo(zone))
        noted = connection.execute(_NOTED, {"scope": scope, "since": since, "until": until, "most": most})
        memories = self._bounded(noted.scalars())
        lines = connection.execute(_SUMMARY, {"scope": scope, "day": day}).scalar() or []
        room = most - len(memories)
        told = self._bounded(f"{line['speaker']}: {line['text']}" for line in lines[-room:]) if room else ()
        return (*told, *reversed(memories))

    def _bounded(self, lines: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(shorten(one_line(line), self.bounds.snippet_max_chars) for line in lines))
