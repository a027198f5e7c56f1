"""Days as a state machine on a real database: events on time, late, out of order, around midnight and changes of the
clock; summaries, sweeps, workers that die, events that come in the middle of a summary, agents that move. Whatever
happens, days add up (I5).
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from sqlalchemy import Engine

from slowwave.settings import Days
from slowwave_server.domain.events import Event
from slowwave_server.domain.local_days import bounds_of, local_day
from slowwave_server.domain.summaries import Segment, cut_segments
from slowwave_server.services.days.agents import configure_agent
from slowwave_server.services.days.book import DayEntry, DayRef
from slowwave_server.services.days.due import due_days
from slowwave_server.services.days.finalize import finalize_ended
from slowwave_server.services.days.summarize import RULES, DayReport
from slowwave_server.services.days.summarizers import SegmentContext
from tests.support.emptying import emptying
from tests.support.summarizing import Diary, Interrupted, Killed

pytestmark = pytest.mark.servers

TABLES = ("agents", "scopes", "sessions", "events", "session_days", "days", "day_summaries", "day_segments")
# Berlin's clocks go forward on 31 March and back on 27 October, St John's the same way on other days.
BEGINS = (datetime(2024, 3, 30, 21, tzinfo=UTC), datetime(2024, 10, 26, 20, tzinfo=UTC))
ZONES = ("Europe/Berlin", "America/St_Johns", "Pacific/Apia", "UTC")
SESSIONS = (("maya", "s1", None), ("maya", "s2", None), ("maya", "r1", "kitchen"), ("jonas", "s1", None))
# "long": two of them fill a segment. None names a day of the week: what that means depends on where an agent lives.
LINES = {
    "decided": "We decided to drop the old archive.",
    "wanted": "I want a table by the window.",
    "nothing": "ok",
    "long": "ballast " * 1500,
}
NEAR = (-3601, -1, 0, 1, 1799, 3600, 7200)
CRASHES = ("none", "none", "none", "read", "merge", "heard", "heard at the end")


class DaysMachine(RuleBasedStateMachine):
    """Says, summarises, sweeps and lets time pass; the model is no more than what was said on which day."""

    engine: Engine

    def __init__(self) -> None:
        super().__init__()
        with self.engine.begin() as connection:
            connection.exec_driver_sql(emptying(*TABLES))
        self.diary = Diary(self.engine, Days(realtime_summary_turn_threshold=3), BEGINS[0])
        self.homes = {"maya": ("Europe/Berlin", 0), "jonas": ("America/St_Johns", 3)}
        self.said = 0
        self.moved: set[str] = set()

    @rule(autumn=st.booleans())
    @precondition(lambda self: self.said == 0)
    def begin_in(self, autumn: bool) -> None:
        self.diary.now = BEGINS[autumn]

    @rule(
        who=st.sampled_from(SESSIONS),
        lines=st.lists(st.sampled_from(sorted(LINES)), min_size=1, max_size=2),
        late=st.sampled_from((None, None, 0, 0.5, 1, 1.5, 2, 3)),
        near=st.sampled_from(NEAR),
        midnight=st.booleans(),
    )
    def say(
        self, who: tuple[str, str, str | None], lines: list[str], late: float | None, near: int, midnight: bool
    ) -> None:
        agent, session, room = who
        zone, cutoff = self.homes[agent]
        at = self.diary.now
        if late is not None:
            at -= timedelta(days=late)
            if midnight:  # around the beginning of a local day
                at = bounds_of(local_day(at, zone, cutoff), zone, cutoff)[0]
            at += timedelta(seconds=near)
        day = local_day(at, zone, cutoff)
        before = {(entry.ref.scope, entry.ref.day): entry.total_messages for entry in self._days_of(agent)}
        self.diary.say(
            session,
            *map(LINES.__getitem__, lines),
            agent=agent,
            room=room,
            zone=zone,
            cutoff=cutoff,
            at=None if late is None else at,
        )
        self.said += len(lines)
        scope = room and f"room:{room}"
        (entry,) = [e for e in self._days_of(agent) if (e.ref.scope, e.ref.day) == (scope, day)]
        assert entry.total_messages == before.get((scope, day), 0) + len(lines)
        assert entry.status != "final", "a day that has got an event is not final"

    @rule(data=st.data(), final=st.booleans(), crash=st.sampled_from(CRASHES))
    @precondition(lambda self: self.said > 0)
    def summarize(self, data: st.DataObject, final: bool, crash: str) -> None:
        ref = data.draw(st.sampled_from([*(entry.ref for entry in self.diary.book())]))
        before = self._last(ref)
        try:
            report = self.diary.summarize(ref, final=final, summarizer=self._interrupted(crash, ref))
        except Killed:
            assert self._last(ref) == before
            return
        if report.outcome == "unchanged":
            assert self._last(ref) == before
        else:
            assert self._last(ref)[0] == before[0] + 1
        if not crash.startswith("heard"):
            self._is_covered(ref, report, final=final)

    @rule()
    def summarize_what_is_due(self) -> None:
        with self.engine.connect() as connection:
            days = due_days(connection, self.diary.settings, now=self.diary.now, limit=100)
        for ref in days:
            assert self.diary.summarize(ref).outcome == "summarized"

    @rule()
    def finalize_all_that_has_ended(self) -> None:
        self.diary.now += timedelta(minutes=6)  # what was killed twice is out of its back-off
        report = finalize_ended(self.engine, self.diary.settings, now=self.diary.now)
        assert report.failed == ()
        for entry in self.diary.book():
            ended = entry.ref.day < local_day(self.diary.now, *self.homes[entry.ref.agent])
            assert entry.status == "final" or not ended
            # A day stays final when its agent moves to where it is not over yet.
            assert ended or entry.status != "final" or entry.ref.agent in self.moved
        assert finalize_ended(self.engine, self.diary.settings, now=self.diary.now).days == ()

    @rule(hours=st.sampled_from((0.2, 1, 5, 12, 25)))
    def time_passes(self, hours: float) -> None:
        self.diary.now += timedelta(hours=hours)

    @rule(agent=st.sampled_from(("maya", "jonas")), zone=st.sampled_from(ZONES), cutoff=st.sampled_from((0, 3, 23)))
    def an_agent_moves(self, agent: str, zone: str, cutoff: int) -> None:
        self.homes[agent] = (zone, cutoff)
        self.moved.add(agent)
        if self._days_of(agent):
            with self.engine.begin() as connection:
                configure_agent(connection, "default", agent, timezone=zone, cutoff_hour=cutoff)

    @invariant()
    def days_add_up(self) -> None:
        self.diary.check()

    def teardown(self) -> None:
        """A snapshot is what its events make of it, whatever was kept on the way."""
        self.diary.now += timedelta(days=3)
        self.finalize_all_that_has_ended()
        for entry in self.diary.book():
            zone = self.homes[entry.ref.agent][0]
            parts = [
                RULES.segment(segment.events, SegmentContext(entry.ref.agent, session, zone), before)
                for session, events in self._events(entry.ref).items()
                for segment, before in self._cut(events)
            ]
            made = RULES.merge(parts, max_words=self.diary.settings.max_summary_words)
            (row,) = self._summary(entry.ref, entry.version)
            assert (row.text, row.messages, row.final) == (made.text, entry.total_messages, True)

    def _interrupted(self, crash: str, ref: DayRef) -> Interrupted:
        room = ref.scope and ref.scope.removeprefix("room:")
        zone, cutoff = self.homes[ref.agent]
        start = bounds_of(ref.day, zone, cutoff)[0]

        def die(*_: object) -> None:
            raise Killed

        def hear(*_: object) -> None:
            self.said += 1
            session = "r1" if room else "s1"
            self.diary.say(session, "And one more.", agent=ref.agent, at=start, room=room, zone=zone, cutoff=cutoff)

        made = Interrupted()
        if crash in {"read", "heard"}:
            made.before_segment = die if crash == "read" else hear
        elif crash != "none":
            made.before_merge = die if crash == "merge" else hear
        return made

    def _is_covered(self, ref: DayRef, report: DayReport, *, final: bool) -> None:
        (entry,) = [entry for entry in self._days_of(ref.agent) if entry.ref == ref]
        assert (entry.last_summarized_total, entry.messages_since_last_summary) == (entry.total_messages, 0)
        ended = ref.day < local_day(self.diary.now, *self.homes[ref.agent])
        assert not (final and ended) or entry.status == report.status == "final"

    def _cut(self, events: list[Event]) -> Iterator[tuple[Segment, tuple[Event, ...]]]:
        before: tuple[Event, ...] = ()
        for segment in cut_segments(events):
            yield segment, before
            before = segment.events[-1:]

    def _days_of(self, agent: str) -> list[DayEntry]:
        return [entry for entry in self.diary.book() if entry.ref.agent == agent]

    def _last(self, ref: DayRef) -> tuple[int, int]:
        rows = self._summary(ref)
        return (rows[-1].version, rows[-1].messages) if rows else (0, 0)

    def _summary(self, ref: DayRef, version: int | None = None) -> list[Any]:
        return self.diary.sql(
            "SELECT * FROM slowwave.day_summaries WHERE (agent_id, scope_id, day) = (:a, :s, :d)"
            " AND (CAST(:v AS integer) IS NULL OR version = :v) ORDER BY version",
            a=ref.agent_id,
            s=ref.scope_id,
            d=ref.day,
            v=version,
        )

    def _events(self, ref: DayRef) -> dict[str, list[Event]]:
        rows = self.diary.sql(
            "SELECT s.name AS session, e.* FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id"
            " WHERE s.agent_id = :a AND s.scope_id = :s AND e.day = :d ORDER BY s.name, e.seq",
            a=ref.agent_id,
            s=ref.scope_id,
            d=ref.day,
        )
        events: dict[str, list[Event]] = {}
        for row in rows:
            event = Event(row.seq, row.kind, row.role, row.content, row.happened_at, row.name)
            events.setdefault(row.session, []).append(event)
        return events


@pytest.mark.parametrize("runs", [6, pytest.param(18, marks=pytest.mark.long)])
def test_i5_days_add_up_whatever_happens(engine: Engine, runs: int) -> None:
    DaysMachine.engine = engine
    run_state_machine_as_test(
        DaysMachine,
        settings=settings(
            max_examples=runs,
            stateful_step_count=20,
            deadline=None,
            phases=(Phase.explicit, Phase.reuse, Phase.generate),  # each step is round trips: shrinking takes minutes
            suppress_health_check=list(HealthCheck),
        ),
    )
