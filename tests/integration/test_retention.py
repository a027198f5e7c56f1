"""Retention of events: what nothing needs goes, and only that; days still add up, and late events are summarised."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis
from sqlalchemy import Engine, text

from slowwave.settings import AutoFlush, Days, Llm, MemorySettings, Settings
from slowwave.settings_sections import Retention
from slowwave_server.domain.model_calls import Spender
from slowwave_server.services.days.finalize import finalize_ended
from slowwave_server.services.maintenance.scheduler import JobReport, Scheduler
from slowwave_server.services.memories.changes import Author, Ledger
from slowwave_server.services.memories.merging import merge_into
from slowwave_server.services.retention.events import Removal, remove_old_events
from slowwave_server.services.retention.job import RUNNERS
from slowwave_server.services.runs.store import start_run
from tests.support.budgeting import Purse, SetClock
from tests.support.flushing import Scene, make_scene
from tests.support.summarizing import Diary

pytestmark = pytest.mark.servers

LINES = ("We decided to keep Postgres for the archive.", "Lena works as a nurse in Oslo.", "The release is on Friday.")
FAST = AutoFlush(idle_seconds=0, max_dirty_age_seconds=0)


@dataclass
class House:
    """One agent whose sessions are flushed, whose days are made final, and whose old events go."""

    scene: Scene
    diary: Diary
    agent: str = "maya"
    said: int = field(default=0)

    def say(self, session: str, *lines: str, days_ago: float = 0) -> None:
        at = self.scene.clock() - timedelta(days=days_ago)
        self.scene.say(session, *lines, agent=self.agent, at=at.isoformat())

    def flush(self, session: str) -> None:
        while self.scene.flush(session, self.agent).outcome in {"stored", "no_reply"}:
            pass

    def pass_days(self, days: float) -> None:
        self.scene.clock.pass_time(days * 86_400)

    def finalize(self) -> None:
        assert not finalize_ended(self.diary.engine, Days(), now=self.scene.clock()).failed

    def retain(self, event_days: int = 7, **how: Any) -> Removal:
        return remove_old_events(self.diary.engine, event_days, now=self.scene.clock(), **how)

    def events(self) -> set[tuple[str, int]]:
        rows = self.scene.sql(
            "SELECT s.name, e.seq FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id"
            " JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.name = :agent",
            agent=self.agent,
        )
        return {(row.name, row.seq) for row in rows}

    def forget_memories(self) -> None:
        """Nothing is remembered of what was said: all memories are archived."""
        self.scene.sql("UPDATE slowwave.memories SET status = 'archived' RETURNING 1")

    def settled(self, session: str = "s1", *lines: str, age: float = 30) -> None:
        """A conversation of a day long over: flushed, summarised, and with nothing remembered of it."""
        self.say(session, *(lines or LINES))
        self.flush(session)
        self.pass_days(age)
        self.finalize()
        self.forget_memories()


@pytest.fixture
def house(engine: Engine, redis_client: Redis) -> Iterator[House]:
    scene = make_scene(engine, redis_client, FAST)
    return House(scene, Diary(engine))


def test_events_that_nothing_needs_go_and_their_day_still_adds_up(house: House) -> None:
    house.settled()
    assert house.retain(event_days=31).events == 0
    would = house.retain(dry_run=True)
    assert (would.events, len(house.events())) == (3, 3)
    assert house.retain() == Removal(events=3, sessions=1, days=1)
    assert house.events() == set()
    assert house.scene.sql("SELECT 1 FROM slowwave.passages") == []
    (day,) = house.diary.book()
    assert (day.status, day.total_messages, day.messages_since_last_summary) == ("final", 3, 0)
    house.diary.check()
    assert house.retain() == Removal()


def test_no_age_removes_nothing(house: House) -> None:
    house.settled(age=10_000)
    assert house.retain(event_days=0) == Removal()
    assert len(house.events()) == 3


def test_what_was_not_flushed_stays_however_old(house: House) -> None:
    house.settled()
    house.say("s2", *LINES, days_ago=30)
    house.pass_days(30)
    house.finalize()
    assert house.retain().events == 3
    assert house.events() == {("s2", 1), ("s2", 2), ("s2", 3)}


def test_i5_what_was_not_summarised_stays_and_its_whole_day_with_it(house: House) -> None:
    house.say("s1", *LINES)
    house.flush("s1")
    house.forget_memories()
    house.pass_days(30)
    assert house.retain().events == 0  # its day has no summary at all
    house.finalize()
    house.say("s2", "One more thing about that day.", days_ago=30)
    house.flush("s2")
    house.forget_memories()
    assert house.retain().events == 0  # the day reads final in its row, and is open again by the late event
    house.finalize()
    assert house.retain().events == 3
    assert house.events() == {("s2", 1)}, "it was said long ago and received just now"


def test_where_a_live_memory_comes_from_stays_and_goes_once_it_is_archived(house: House) -> None:
    house.settled()
    house.scene.sql("UPDATE slowwave.memories SET status = 'inbox' WHERE content = :c RETURNING 1", c=LINES[1])
    assert house.retain().events == 2
    assert house.events() == {("s1", 2)}
    house.diary.check()
    house.forget_memories()
    assert house.retain().events == 1
    house.diary.check()


def test_the_words_of_a_merged_memory_stay_as_long_as_what_it_was_merged_into(house: House, engine: Engine) -> None:
    house.settled()
    part, survivor = (
        house.scene.sql("SELECT * FROM slowwave.memories WHERE content = :c", c=line)[0] for line in LINES[:2]
    )
    with engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.memories SET status = 'inbox'"))
        run = start_run(connection, kind="light", now=house.scene.clock(), lease_seconds=60, scope_id=part.scope_id)
        ledger = Ledger(connection, Author(run.id), house.scene.clock())
        merge_into(ledger, part.id, part.revision, survivor.id, reason="the same")
        connection.execute(text("UPDATE slowwave.memories SET status = 'archived' WHERE content = :c"), {"c": LINES[2]})
    assert house.retain().events == 1
    assert house.events() == {("s1", 1), ("s1", 2)}


def test_an_event_that_was_set_aside_stays_until_somebody_decides(house: House) -> None:
    house.settled()
    house.scene.sql(
        "UPDATE slowwave.events SET quarantined_at = :now WHERE seq = 2 RETURNING 1", now=house.scene.clock()
    )
    assert house.retain().events == 2
    assert house.events() == {("s1", 2)}


def test_a_late_event_of_a_day_whose_events_are_gone_is_summarised_with_all_that_was_there(house: House) -> None:
    house.settled()
    day = house.diary.book()[0]
    assert house.retain().events == 3
    for session in ("s1", "s2"):  # behind the very session whose events are gone, and in another one
        house.say(session, f"The key in {session} lies under the mat.", days_ago=30)
    assert house.diary.book()[0].status == "open"
    house.finalize()
    again = house.diary.book()[0]
    assert (again.status, again.version, again.total_messages) == ("final", day.version + 1, 5)
    house.diary.check()
    words = house.diary.summaries(day.ref.day)[-1].text
    assert "Postgres" in words
    assert "mat" in words


def test_a_session_that_somebody_is_at_is_left_to_the_next_run(house: House, engine: Engine) -> None:
    house.settled()
    with engine.begin() as capture:
        capture.execute(text("SELECT 1 FROM slowwave.sessions FOR NO KEY UPDATE"))
        assert house.retain() == Removal(busy=1)
    assert house.retain().events == 3


def test_a_large_day_goes_in_batches_and_search_counts_its_scope_again(house: House) -> None:
    house.settled("s1", *(f"{LINES[n % 3]} Take {n}." for n in range(250)))
    house.scene.sql(
        "UPDATE slowwave.scopes SET counted_at = :now, counted_documents = 250 RETURNING 1", now=house.scene.clock()
    )
    house.scene.sql(
        "INSERT INTO slowwave.common_terms (scope_id, term, documents) SELECT id, 'take', 250 FROM slowwave.scopes"
        " RETURNING 1"
    )
    assert house.retain().events == 250
    assert house.scene.sql("SELECT counted_documents AS n FROM slowwave.scopes")[0].n == 0
    assert house.scene.sql("SELECT 1 FROM slowwave.common_terms") == []


# What may happen: (what, which session or how many days, …).
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.sampled_from("ab"), st.integers(1, 3), st.integers(0, 6)),
        st.tuples(st.just("flush"), st.sampled_from("ab")),
        st.tuples(st.just("pass"), st.integers(1, 4)),
        st.tuples(st.just("finalize")),
        st.tuples(st.just("archive"), st.integers(0, 3)),
        st.tuples(st.just("revive"), st.integers(0, 3)),
        st.tuples(st.just("set aside"), st.integers(0, 5)),
        st.tuples(st.just("retain"), st.integers(1, 4)),
    ),
    min_size=4,
    max_size=16,
)


def act(house: House, what: str, *how: Any) -> None:
    if what == "say":
        session, count, days_ago = how
        house.said += count
        lines = (f"Fact number {house.said - n} of {house.agent}." for n in range(count))
        house.say(session, *lines, days_ago=days_ago)
    elif what == "flush":
        house.flush(how[0])
    elif what == "pass":
        house.pass_days(how[0])
    elif what == "finalize":
        house.finalize()
    elif what in {"archive", "revive"}:
        status = {"archive": "archived", "revive": "inbox"}[what]
        house.scene.sql(
            "UPDATE slowwave.memories SET status = :status WHERE id IN (SELECT m.id FROM slowwave.memories m"
            " JOIN slowwave.scopes k ON k.id = m.scope_id WHERE k.name = :agent"
            " AND get_byte(m.content_hash, 0) % 4 = :n) RETURNING 1",
            status=status,
            agent=house.agent,
            n=how[0],
        )
    elif what == "set aside":
        house.scene.sql(
            "UPDATE slowwave.events e SET quarantined_at = now() FROM slowwave.sessions s, slowwave.agents a"
            " WHERE s.id = e.session_id AND a.id = s.agent_id AND a.name = :agent AND e.seq = :seq"
            " AND e.seq <= s.processed_until RETURNING 1",
            agent=house.agent,
            seq=how[0],
        )


def needed_no_more(house: House, event_days: int) -> set[tuple[str, int]]:
    """What may go, worked out from whole tables, with the true statuses that the book of days tells."""
    final = {entry.ref.day for entry in house.diary.book(house.agent) if entry.status == "final"}
    before = house.scene.clock() - timedelta(days=event_days)
    rows = house.scene.sql(
        "SELECT s.name, e.seq, e.day, e.happened_at, e.recorded_at, e.quarantined_at, s.processed_until, ARRAY("
        "   SELECT m.status FROM slowwave.memory_sources x JOIN slowwave.memories m ON m.id = x.memory_id"
        "   WHERE x.session_id = s.id AND x.seq = e.seq) AS memories"
        " FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id"
        " JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.name = :agent",
        agent=house.agent,
    )
    return {
        (row.name, row.seq)
        for row in rows
        if row.day in final
        and max(row.happened_at, row.recorded_at) <= before
        and row.seq <= row.processed_until
        and row.quarantined_at is None
        and set(row.memories) <= {"archived"}
    }


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OPERATIONS)
def test_i5_nothing_unflushed_unsummarised_or_remembered_ever_goes(
    house: House, operations: list[tuple[Any, ...]]
) -> None:
    house.agent += "x"  # one of its own for each example
    for operation in [
        ("say", "a", 2, 0),
        *operations,
        ("pass", 5),
        ("flush", "a"),
        ("flush", "b"),
        ("finalize",),
        ("retain", 1),
    ]:
        if operation[0] != "retain":
            act(house, *operation)
            continue
        event_days = operation[1]
        there, may_go = house.events(), needed_no_more(house, event_days)
        house.retain(event_days)
        assert there - house.events() == may_go
        house.diary.check()
        assert house.retain(event_days).events == 0, "a second run finds nothing more"
    entries = house.diary.book(house.agent)
    assert all(entry.status == "final" for entry in entries)


def run_job(house: House, *, dry_run: bool = False, **retention: int) -> JobReport:
    memory = MemorySettings(retention=Retention(**retention))
    scheduler = Scheduler(house.diary.engine, RUNNERS, Settings(memory=memory), clock=house.scene.clock, by="test")
    report = scheduler.run_now("retention", dry_run=dry_run)
    assert report is not None
    return report


def test_the_job_removes_old_calls_of_models_and_the_counters_stay(house: House) -> None:
    purse = Purse(house.diary.engine, Llm(), SetClock(house.scene.clock()))
    purse.budget.settle(purse.reserve(Spender("default", "maya"), 100), "answered", 70)
    purse.reserve(Spender("elsewhere", "maya"), 100)
    purse.clock.forward(days=50)
    purse.budget.settle(purse.reserve(Spender("default", "maya"), 100), "answered", 30)
    house.pass_days(89)
    assert run_job(house).stats["calls"] == 0
    house.pass_days(2)
    assert "1 call of models would go" in run_job(house, dry_run=True).summary
    assert "1 call of models removed" in run_job(house).summary
    assert purse.ledger("default") == (1, 0, 0, 30)
    assert purse.ledger("elsewhere") == (1, 0, 100, 0), "what is under way is no old call"
    assert purse.counted("default") == (2, 0, 0, 100)


def test_the_job_removes_events_and_says_so(house: House) -> None:
    house.settled()
    assert run_job(house).summary == "events are kept for ever (memory.retention.event_days is 0)"
    house.pass_days(8)
    assert run_job(house, dry_run=True, event_days=7).summary == "3 events of 1 day would go"
    report = run_job(house, event_days=7)
    assert (report.status, report.summary) == ("completed", "3 events of 1 day removed")
    assert json.loads(json.dumps(report.stats))["events"] == 3
