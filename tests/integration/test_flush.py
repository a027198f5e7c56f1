"""A flush on real servers: I1 to I4 and I9, and the mistakes that other systems made here."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from redis import Redis
from sqlalchemy import Engine

from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush, ExtractorSettings
from slowwave_server.domain.candidates import Window
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.windows import PRECEDING_EVENTS
from slowwave_server.models.engine import driver_connection
from slowwave_server.services.dead_letters.quarantine import RetryResult, retry_quarantined
from slowwave_server.services.flush.store import begin_flush
from slowwave_server.services.reports.why import why_waiting
from tests.support.flushing import Scene, make_scene
from tests.support.recalling import search

pytestmark = pytest.mark.servers


@pytest.fixture
def make(engine: Engine, redis_client: Redis) -> Callable[..., Scene]:
    return lambda **settings: make_scene(engine, redis_client, AutoFlush.model_validate(settings))


def test_a_due_session_becomes_memories_with_their_sources(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.", "Maya has two cats.", trigger="idle")

    result = scene.flush("s1")

    assert (result.outcome, result.window, result.stored, result.more) == ("stored", (1, 2), 2, False)
    assert scene.memories() == ["Maya has two cats.", "Maya plays the cello."]
    sources = scene.sql(
        "SELECT m.content, x.seq FROM slowwave.memory_sources x JOIN slowwave.memories m ON m.id = x.memory_id"
    )
    assert {(row.content, row.seq) for row in sources} == {("Maya plays the cello.", 1), ("Maya has two cats.", 2)}
    assert not result.ended_run
    session = scene.session("s1")
    assert (session.processed_until, session.flush_due_at, session.dirty_since, session.invalidated_at) == (
        2,
        None,
        None,
        None,
    )


def test_a_flush_says_whether_a_run_of_a_task_ended_in_its_window(scene: Scene) -> None:
    scene.say("s1", "Import queued.", trigger="idle", **_milestone("run_queued"))
    assert not scene.flush("s1").ended_run
    scene.say("s1", "Import failed: disk full.", trigger="idle", **_milestone("run_failed"))
    assert scene.flush("s1").ended_run


def _milestone(event: str) -> dict[str, Any]:
    return {"kind": "task", "metadata": {"event": event}}


def test_a_secret_reaches_neither_memories_nor_the_answers_of_search(scene: Scene) -> None:
    token = "ghp_" + "a1B2" * 9
    scene.say("s1", f"Is {token} the one in the drawer?", "I keep my spare keys in a drawer.", trigger="idle")
    scene.queue.offer(SessionRef("default", "maya", "s1"), "normal")
    replace(scene.flusher, extractor=RulesExtractor()).flush(SessionRef("default", "maya", "s1"))
    with psycopg.connect(scene.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)) as reader:
        hits = search(reader, "default", "maya", "What is in the drawer?")
    assert "Is [redacted:github-token] the one in the drawer?" in {hit.content for hit in hits}
    assert not [hit for hit in hits if token in hit.content]
    assert scene.sql("SELECT content FROM slowwave.events WHERE seq = 1")[0].content.startswith(f"Is {token}")


def test_a_session_that_is_not_due_is_left_alone(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.")
    assert scene.flush("s1").outcome == "early"
    scene.clock.pass_time(scene.settings.idle_seconds)
    assert scene.flush("s1").outcome == "stored"
    assert scene.flush("s1").outcome == "clean"
    assert scene.flush("nobody").outcome == "unknown"


def test_mistake_01_a_failure_never_moves_the_watermark(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.", trigger="idle")
    scene.extractor.interrupt = _raise(RuntimeError("model answered nonsense"))

    assert scene.flush("s1").outcome == "failed"

    session = scene.session("s1")
    assert (session.processed_until, session.last_error) == (0, "RuntimeError: model answered nonsense")
    assert scene.windows("s1") == []
    scene.extractor.interrupt = lambda _window: None
    scene.clock.pass_time(5)
    assert scene.flush("s1").outcome == "stored"


def test_mistake_02_watermark_and_memories_commit_together_or_not_at_all(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.", trigger="idle")
    # The ledger refuses the row in the middle of the commit: nothing of it may stay.
    with scene.engine.connect() as connection:
        connection.exec_driver_sql("ALTER TABLE slowwave.flushes ADD CONSTRAINT refuse CHECK (stored = 0)")

    assert scene.flush("s1").outcome == "failed"
    assert 'violates check constraint "refuse"' in scene.session("s1").last_error

    assert (scene.memories(), scene.windows("s1"), scene.session("s1").processed_until) == ([], [], 0)
    assert scene.sql("SELECT count(*) AS n FROM slowwave.memory_changes")[0].n == 0


def test_mistake_03_the_watermark_is_the_last_seq_that_was_read(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.", trigger="idle")
    scene.extractor.interrupt = lambda _window: scene.say("s1", "Maya sold the cello.") and None

    scene.flush("s1")

    session = scene.session("s1")
    assert (session.last_seq, session.processed_until) == (2, 1)
    assert session.dirty_since is not None
    assert scene.memories() == ["Maya plays the cello."]


def test_mistake_04_a_lost_swap_leaves_no_memory_behind(scene: Scene) -> None:
    """I2 and mistake 11: the lease failed, two workers hold the same window, one of them commits."""
    scene.say("s1", "Maya plays the cello.", trigger="idle")
    results: list[str] = []

    def overtaken(_window: Window) -> None:
        scene.extractor.interrupt = lambda _window: None
        scene.queue._redis.flushall()  # the lease is gone
        results.append(scene.flush("s1").outcome)

    scene.extractor.interrupt = overtaken
    results.append(scene.flush("s1").outcome)

    assert results == ["stored", "lost"]
    assert scene.windows("s1") == [(1, 1, "stored")]
    assert scene.sql("SELECT count(*) AS n FROM slowwave.memory_sources")[0].n == 1


def test_mistake_07_windows_are_contiguous_through_a_burst(make: Callable[..., Scene]) -> None:
    scene = make(extractor=ExtractorSettings(max_messages_per_flush=4))
    for number in range(11):
        scene.say("s1", f"Maya owns book {number}.")
    scene.say("s1", trigger="idle")

    outcomes = []
    while (result := scene.flush("s1")).outcome == "stored":
        outcomes.append((result.window, result.more))

    assert outcomes == [((1, 4), True), ((5, 8), True), ((9, 11), False)]
    assert len(scene.memories()) == 11


def test_tool_events_leave_room_for_the_outcome_of_a_run(make: Callable[..., Scene]) -> None:
    """I2, with a window of 2 turns: 8 events of tools have room beside them."""
    scene = make(extractor=ExtractorSettings(max_messages_per_flush=2))
    seen: list[Window] = []
    scene.extractor.interrupt = seen.append
    scene.say("s1", "Book seat 4A.")
    scene.say("s1", *(f"book(seat={n})" for n in range(7)), kind="tool", role="tool_call")
    scene.say("s1", "Maya has seat 4A.", "Thanks!", trigger="idle")

    assert scene.flush("s1").window == (1, 9)
    assert [event.content for event in seen[0].events if event.kind != "tool"] == ["Book seat 4A.", "Maya has seat 4A."]
    assert scene.flush("s1").window == (10, 10)


def test_a_run_of_tool_events_keeps_the_turns_before_it_as_context(make: Callable[..., Scene]) -> None:
    scene = make(extractor=ExtractorSettings(max_messages_per_flush=2))
    scene.say("s1", "Hello.", "Book seat 4A.")
    scene.say("s1", *(f"book(seat={n})" for n in range(12)), kind="tool", role="tool_call", trigger="idle")
    assert [scene.flush("s1").window for _ in range(2)] == [(1, 10), (11, 14)]
    scene.say("s1", "Maya has seat 4A.", trigger="idle")

    now, flushing = scene.clock(), scene.settings
    with driver_connection(scene.engine) as connection:
        begun = begin_flush(connection, SessionRef("default", "maya", "s1"), flushing, now, preceding=PRECEDING_EVENTS)
    assert [event.seq for event in begun.preceding] == [1, 2, 11, 12, 13, 14]
    assert [event.seq for event in begun.events] == [15]


def test_mistake_10_an_outage_uses_up_no_attempt_and_no_event(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.", "Maya has two cats.", trigger="idle")
    scene.extractor.interrupt = _raise(TransientError("the model is busy"))

    for _ in range(20):
        assert scene.flush("s1").outcome == "failed"
        assert scene.flush("s1").outcome == "early"  # it waits, it does not burn
        assert scene.session("s1").flush_due_at == scene.session("s1").not_before, "a back-off stays as it was"
        scene.clock.pass_time(400)

    session = scene.session("s1")
    assert (session.attempts, session.window_limit, session.processed_until) == (0, None, 0)
    scene.extractor.interrupt = lambda _window: None
    assert scene.flush("s1").window == (1, 2)
    assert scene.sql("SELECT count(*) AS n FROM slowwave.events WHERE quarantined_at IS NOT NULL")[0].n == 0


def test_mistake_12_every_wait_is_a_time_in_postgres(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.", trigger="idle")
    scene.extractor.interrupt = _raise(TransientError("busy", retry_after=90))
    scene.flush("s1")
    session = scene.session("s1")
    assert session.not_before == session.flush_due_at == scene.clock() + timedelta(seconds=90)


def test_mistake_16_one_poisonous_event_is_found_and_set_aside(scene: Scene) -> None:
    for number in range(1, 13):
        scene.say("s1", "POISON" if number == 6 else f"Maya owns book {number}.")
    scene.say("s1", trigger="idle")

    def choke(window: Window) -> None:
        if any(e.content == "POISON" for e in window.events):
            raise ValueError("can't parse this")

    scene.extractor.interrupt = choke
    for _ in range(60):
        result = scene.flush("s1")
        if result.outcome == "clean":
            break
        scene.clock.pass_time(400)

    assert scene.session("s1").processed_until == 12
    windows = scene.windows("s1")
    assert [w for w in windows if w[2] == "quarantined"] == [(6, 6, "quarantined")]
    assert [w[0] for w in windows] == [1] + [w[1] + 1 for w in windows[:-1]]  # contiguous (I2)
    assert len(scene.memories()) == 11
    quarantined = scene.sql("SELECT seq FROM slowwave.events WHERE quarantined_at IS NOT NULL")
    assert [row.seq for row in quarantined] == [6]


def test_a_quarantined_event_is_tried_again_when_someone_asks(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.", trigger="idle")
    scene.extractor.interrupt = _raise(ValueError("can't parse this"))
    for _ in range(scene.settings.extractor.max_retries + 1):
        scene.flush("s1")
        scene.clock.pass_time(400)
    ref = SessionRef("default", "maya", "s1")
    retry = partial(retry_quarantined, scene.engine, scene.extractor)
    assert scene.windows("s1") == [(1, 1, "quarantined")]

    assert retry(ref, 1, scene.clock()) == RetryResult("failed", error="ValueError: can't parse this")
    scene.extractor.interrupt = lambda _window: None
    assert retry(ref, 1, scene.clock()) == RetryResult("stored", 1)
    assert retry(ref, 1, scene.clock()) == RetryResult("gone")

    assert (scene.windows("s1"), scene.memories()) == ([(1, 1, "stored")], ["Maya plays the cello."])
    assert scene.sql("SELECT quarantined_at FROM slowwave.events")[0].quarantined_at is None


def test_a_window_that_kills_its_workers_runs_out_of_attempts(scene: Scene) -> None:
    """Nobody notes a failure, since whoever would have is dead: the attempts were counted before the work."""
    scene.say("s1", "Maya plays the cello.", trigger="idle")

    class Killed(BaseException):
        pass

    scene.extractor.interrupt = _raise(Killed())
    for _ in range(scene.settings.extractor.max_retries + 1):
        with pytest.raises(Killed):
            scene.flush("s1")
    scene.flush("s1")
    assert scene.windows("s1") == [(1, 1, "quarantined")]


def test_mistake_18_event_time_decides_and_not_arrival(scene: Scene) -> None:
    """I9: the same statement, told late about an earlier day, keeps the earlier day."""
    late = datetime(2026, 5, 2, tzinfo=UTC)
    early = datetime(2024, 1, 9, tzinfo=UTC)
    scene.say("s1", "Maya plays the cello.", trigger="idle", at=late.isoformat())
    scene.flush("s1")
    scene.say("s2", "Maya plays the cello.", trigger="idle", at=early.isoformat())
    scene.flush("s2")
    rows = scene.sql("SELECT valid_from FROM slowwave.memories")
    assert [row.valid_from for row in rows] == [early]


def test_mistake_23_saying_it_twice_makes_no_second_row_and_loses_none(scene: Scene) -> None:
    """Mistake 27 too: the database's unique key decides. Another session makes it more certain."""
    confidences = []
    for session, line in [
        ("s1", "Maya plays the cello."),
        ("s1", "maya  plays the cello"),
        ("s2", "Maya plays the cello!"),
    ]:
        scene.say(session, line, trigger="idle")
        scene.flush(session)
        (row,) = scene.sql("SELECT confidence FROM slowwave.memories")
        confidences.append(row.confidence)
    assert confidences == [pytest.approx(0.6), pytest.approx(0.6), pytest.approx(0.72)]
    assert scene.sql("SELECT count(*) AS n FROM slowwave.memory_sources")[0].n == 3


def test_what_is_said_during_a_flush_is_flushed_after_it_without_help(scene: Scene) -> None:
    """No wake-up is lost between "running" and "new event" (I3): the release offers the session again."""
    ref = SessionRef("default", "maya", "s1")
    scene.say("s1", "Maya plays the cello.", trigger="idle")

    def meanwhile(_window: Window) -> None:
        scene.say("s1", "Maya sold the cello.", trigger="compaction")
        scene.queue.offer(ref, "normal")

    scene.extractor.interrupt = meanwhile
    scene.flush("s1")
    scene.extractor.interrupt = lambda _window: None

    assert scene.queue.inspect(ref).state == "pending"
    assert scene.flusher.flush(ref).window == (2, 2)


def test_i8_two_tenants_with_the_same_names_share_nothing(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.", trigger="idle")
    result = scene.flusher.flush(SessionRef("other", "maya", "s1"))
    scene.queue.offer(SessionRef("other", "maya", "s1"), "normal")
    assert (result.outcome, scene.flusher.flush(SessionRef("other", "maya", "s1")).outcome) == ("stale", "unknown")
    assert scene.memories() == []


def _raise(error: BaseException) -> Callable[[Window], None]:
    def interrupt(_window: Window) -> None:
        raise error

    return interrupt


_REFUSING = """
CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the audit of this company is full'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON slowwave.memories FOR EACH ROW EXECUTE FUNCTION public.refuse();
"""


def test_a_refused_commit_is_told_and_tried_until_it_works(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    scene.say("s1", "Maya plays the cello.", "Maya has two cats.", trigger="idle")
    with scene.engine.connect() as connection:
        connection.exec_driver_sql(_REFUSING)
    for failures in range(1, 8):
        assert scene.flush("s1").outcome == "failed"
        session = scene.session("s1")
        assert (session.failures, session.attempts, session.window_limit) == (failures, 0, None)
        assert session.last_error == "the commit failed: RaiseException (P0001): the audit of this company is full"
        scene.clock.now = session.not_before
    assert "the audit of this company is full" in caplog.text
    scene.clock.pass_time(-1)
    with scene.engine.connect() as connection:
        ref = SessionRef("default", "maya", "s1")
        waiting = why_waiting(connection, scene.queue, ref, scene.settings, now=scene.clock())
    assert "the audit of this company is full" in waiting.sentence
    scene.clock.pass_time(1)
    with scene.engine.connect() as connection:
        connection.exec_driver_sql("DROP TRIGGER refuse ON slowwave.memories")
    assert scene.flush("s1").outcome == "stored"
    assert scene.memories() == ["Maya has two cats.", "Maya plays the cello."]
