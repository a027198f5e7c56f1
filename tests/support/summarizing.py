"""What tests of days share: agents who speak at given times, their days summarised, and what must always add up."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import Engine, text

from slowwave.settings import Days
from slowwave_server.domain.events import Event
from slowwave_server.domain.summaries import DaySummary
from slowwave_server.services.days.book import DayEntry, DayRef, day_book, find_days
from slowwave_server.services.days.summarize import RULES, DayReport, summarize_day
from slowwave_server.services.days.summarizers import Lines, SegmentContext, Summarizer

NOON = datetime(2024, 5, 10, 12, tzinfo=UTC)
_CAPTURE = text(
    "SELECT added FROM slowwave.capture_session(:tenant, :agent, :session, CAST(:events AS jsonb),"
    " CAST(:about AS jsonb), NULL, 120, 600, 5, :zone, :cutoff, :now)"
)


class Killed(BaseException):
    """A worker that is gone from one moment to the next."""


@dataclass
class Interrupted:
    """The rules, with something happening in between: before lines are made of events, and before these are merged."""

    before_segment: Callable[[Sequence[Event]], None] = lambda _events: None
    before_merge: Callable[[], None] = lambda: None
    name: str = RULES.name
    segments: list[tuple[int, int]] = field(default_factory=list)

    def segment(self, events: Sequence[Event], told: SegmentContext, preceding: Sequence[Event]) -> Lines:
        self.segments.append((events[0].seq, events[-1].seq))
        self.before_segment(events)
        return RULES.segment(events, told, preceding)

    def merge(self, parts: Sequence[Lines], *, max_words: int) -> DaySummary:
        self.before_merge()
        return RULES.merge(parts, max_words=max_words)


@dataclass
class Diary:
    """Agents on a real database. `now` moves by hand; what is said without `at` is said now."""

    engine: Engine
    settings: Days = field(default_factory=Days)
    now: datetime = NOON

    def say(
        self,
        session: str,
        *lines: str,
        agent: str = "maya",
        tenant: str = "default",
        at: datetime | None = None,
        zone: str = "UTC",
        cutoff: int = 0,
        room: str | None = None,
        kind: str = "user",
        **about: Any,
    ) -> None:
        when = {} if at is None else {"at": at.isoformat()}
        events = [
            {"kind": kind, "step": n, "content": line, "name": agent.title(), **when, **about}
            for n, line in enumerate(lines, start=1)
        ]
        values = {
            "tenant": tenant,
            "agent": agent,
            "session": session,
            "events": json.dumps(events),
            "about": json.dumps({"scope_kind": "room", "scope_name": room}) if room else None,
            "zone": zone,
            "cutoff": cutoff,
            "now": self.now,
        }
        with self.engine.begin() as connection:
            connection.execute(_CAPTURE, values)

    def sql(self, statement: str, **values: Any) -> list[Any]:
        with self.engine.begin() as connection:
            result = connection.execute(text(statement), values)
            return list(result) if result.returns_rows else []

    def book(self, agent: str | None = None, tenant: str = "default") -> list[DayEntry]:
        with self.engine.connect() as connection:
            return day_book(connection, tenant, agent, limit=1000)

    def entry(self, day: date, agent: str = "maya") -> DayEntry:
        (found,) = [entry for entry in self.book(agent) if entry.ref.day == day]
        return found

    def ref(self, day: date, agent: str = "maya", scope: str | None = "agent") -> DayRef:
        with self.engine.connect() as connection:
            (found,) = find_days(connection, "default", agent, day, scope=scope)
        return found

    def summarize(
        self, day: date | DayRef, agent: str = "maya", *, final: bool = False, summarizer: Summarizer = RULES
    ) -> DayReport:
        ref = self.ref(day, agent) if isinstance(day, date) else day
        return summarize_day(self.engine, ref, settings=self.settings, now=self.now, final=final, summarizer=summarizer)

    def summaries(self, day: date) -> list[Any]:
        return self.sql("SELECT * FROM slowwave.day_summaries WHERE day = :day ORDER BY id", day=day)

    def segments(self, day: date) -> list[tuple[int, int, int]]:
        rows = self.sql(
            "SELECT from_seq, to_seq, messages FROM slowwave.day_segments WHERE day = :day"
            " ORDER BY session_id, from_seq",
            day=day,
        )
        return [tuple(row) for row in rows]

    def check(self) -> None:
        """I5, whatever has happened: counters equal events, and a day that reads final has nothing unsummarised."""
        wrong = self.sql("""
            SELECT d.session_id, d.day, d.total_messages, d.removed FROM slowwave.session_days d
            WHERE d.total_messages - d.removed <> (
                SELECT count(*) FROM slowwave.events e WHERE e.session_id = d.session_id AND e.day = d.day)
            UNION ALL
            SELECT e.session_id, e.day, 0, 0 FROM slowwave.events e
            WHERE NOT EXISTS (
                SELECT FROM slowwave.session_days d WHERE d.session_id = e.session_id AND d.day = e.day)
        """)
        assert wrong == []
        for entry in self.book():
            assert 0 <= entry.last_summarized_total <= entry.total_messages
            assert entry.messages_since_last_summary == entry.total_messages - entry.last_summarized_total
            if entry.status == "final":
                assert entry.messages_since_last_summary == 0
        behind = self.sql("""
            SELECT y.day, y.last_summarized_total, s.messages FROM slowwave.days y
            LEFT JOIN slowwave.day_summaries s
              ON (s.agent_id, s.scope_id, s.day, s.version) = (y.agent_id, y.scope_id, y.day, y.version)
            WHERE y.version > 0 AND s.messages IS DISTINCT FROM y.last_summarized_total
        """)
        assert behind == []


def poison(engine: Engine, agent: str) -> None:
    """From now on no summary of this agent's days can be written."""
    find = text("SELECT id FROM slowwave.agents WHERE name = :name")
    with engine.begin() as connection:
        found = connection.execute(find, {"name": agent}).scalar()
        connection.execute(
            text(
                "CREATE FUNCTION slowwave.poison() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN RAISE EXCEPTION 'Maya said so'; END $$"
            )
        )
        connection.execute(
            text(
                "CREATE TRIGGER poison BEFORE INSERT ON slowwave.day_summaries FOR EACH ROW"
                f" WHEN (NEW.agent_id = {found:d}) EXECUTE FUNCTION slowwave.poison()"
            )
        )
