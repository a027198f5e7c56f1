"""What a session waits for is always said, with one reason first, and never wrongly (mistake 14)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.coordination.outcomes import Priority, Sighting
from slowwave.settings import AutoFlush
from slowwave_server.domain.spoken_time import duration_words, format_time
from slowwave_server.domain.waiting import waiting_for
from slowwave_server.domain.waiting_facts import Facts, Reason
from tests.support.tables import for_each

NOW = datetime(2026, 3, 5, 14, 0, 0, tzinfo=UTC)
RULES = AutoFlush()
ALL_QUEUES = frozenset({"flush.high", "flush", "capture", "consolidate", "days", "maintenance"})


def seen(
    state: Literal["idle", "pending", "running", "parked"] = "idle",
    *,
    priority: Priority | None = None,
    expires_in: float | None = None,
    rerun: Priority | None = None,
    ahead: int | None = None,
    parked_for: float | None = None,
    agent_running: int = 0,
    agent_queued: int = 0,
) -> Sighting:
    return Sighting(state, priority, expires_in, rerun, ahead, parked_for, agent_running, agent_queued)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


DIRTY = Facts(
    now=NOW,
    last_seq=6,
    processed_until=2,
    last_turn=4,
    processed_turn=1,
    last_seen_at=at(-20),
    dirty_since=at(-40),
    flush_due_at=at(100),
    sighting=seen(),
    listening=ALL_QUEUES,
    swept_ago=2.0,
)

moments = st.none() | st.floats(-1e8, 1e8).map(at)
counts = st.integers(0, 10_000)
priorities = st.sampled_from(get_args(Priority))
sightings = st.none() | st.one_of(
    st.builds(seen, st.just("idle"), agent_running=counts),
    st.builds(seen, st.just("pending"), priority=priorities, expires_in=st.floats(0, 60), agent_running=counts),
    st.builds(
        seen,
        st.just("running"),
        priority=priorities,
        expires_in=st.floats(0, 8),
        rerun=st.none() | priorities,
        agent_running=counts,
    ),
    st.builds(
        seen,
        st.just("parked"),
        priority=priorities,
        ahead=counts,
        parked_for=st.floats(0, 3600),
        agent_running=counts,
        agent_queued=counts,
    ),
)
facts = st.builds(
    Facts,
    now=st.just(NOW),
    last_seq=counts,
    processed_until=counts,
    last_turn=counts,
    processed_turn=counts,
    last_seen_at=st.floats(-1e8, 1e8).map(at),
    dirty_since=moments,
    invalidated_at=st.none() | counts,
    invalidated_by=st.none() | st.text(max_size=10),
    flush_due_at=moments,
    not_before=moments,
    attempts=st.integers(0, 10),
    failures=st.integers(0, 10),
    window_limit=st.none() | st.integers(1, 20),
    last_error=st.none() | st.text(max_size=20),
    deleted_at=moments,
    quarantined=st.integers(0, 3),
    flushed_at=moments,
    sighting=sightings,
    depths=st.dictionaries(st.sampled_from(sorted(ALL_QUEUES)), counts).map(lambda d: tuple(d.items())),
    listening=st.none() | st.frozensets(st.sampled_from(sorted(ALL_QUEUES))),
    swept_ago=st.none() | st.floats(0, 1e6),
    source_runs=st.integers(0, 3),
    source_due_at=moments,
    source_error=st.none() | st.text(max_size=20),
    closes_at=moments,
)
rules = st.builds(
    AutoFlush,
    enabled=st.booleans(),
    idle_seconds=st.floats(0, 86_400),
    max_dirty_age_seconds=st.floats(0, 604_800),
    turn_threshold=st.integers(0, 100),
)


@given(facts, rules)
def test_whatever_the_facts_there_is_one_reason_and_it_is_said(known: Facts, settings: AutoFlush) -> None:
    waiting = waiting_for(known, settings)
    assert waiting.reason in Reason
    assert waiting.sentence.startswith(("It ", "Nothing: ", "A worker ", "The ", "Automatic "))
    assert "None" not in waiting.sentence.removesuffix(known.last_error or "")
    assert all(sentence for sentence in waiting.also)
    assert (waiting.reason in {Reason.CLEAN, Reason.SOURCE}) == (not known.dirty)
    assert (waiting.reason is Reason.SOURCE) == (not known.dirty and known.source_runs > 0)


@given(facts, rules)
def test_only_what_runs_by_itself_goes_without_a_cure_or_a_time(known: Facts, settings: AutoFlush) -> None:
    waiting = waiting_for(known, settings)
    by_itself = {Reason.CLEAN, Reason.FORGOTTEN, Reason.RUNNING, Reason.PARKED, Reason.QUEUED}
    assert waiting.reason in by_itself or waiting.cure is not None or waiting.until is not None


@for_each(
    ("known", "reason", "words"),
    [
        (replace(DIRTY, processed_until=6, flushed_at=at(-5)), Reason.CLEAN, "the last at 13:59:55 UTC"),
        (replace(DIRTY, last_seq=0, processed_until=0), Reason.CLEAN, "no events yet"),
        (
            replace(DIRTY, processed_until=6, source_runs=2, source_due_at=at(30)),
            Reason.SOURCE,
            "waits for 2 runs that a hook named: a worker reads them from the store of memory.source at 14:00:30 UTC",
        ),
        (
            replace(DIRTY, closes_at=at(60)),
            Reason.TIMER,
            "(in 1 min): nobody has then seen it for 1 min 20 s (memory.sessions.session_ttl_minutes)",
        ),
        (
            replace(DIRTY, not_before=at(600), failures=2, closes_at=at(60)),
            Reason.BACKING_OFF,
            "It counts as over at 14:01:00 UTC (in 1 min) and is then tried at once.",
        ),
        (replace(DIRTY, deleted_at=at(-5)), Reason.FORGOTTEN, "forgotten at 13:59:55 UTC"),
        (DIRTY, Reason.TIMER, "until 14:01:40 UTC (in 1 min 40 s): it has then been quiet for 2 min"),
        (replace(DIRTY, dirty_since=at(-590), flush_due_at=at(10)), Reason.TIMER, "event is then 10 min old"),
        (replace(DIRTY, sighting=seen("running", expires_in=6.0)), Reason.RUNNING, "another 6 s"),
        (replace(DIRTY, sighting=seen("pending", priority="high")), Reason.QUEUED, "at high priority in 'flush.high'"),
        (
            replace(DIRTY, sighting=seen("pending", priority="normal"), depths=(("flush", 1200),)),
            Reason.QUEUED,
            "among 1,200 messages",
        ),
        (
            replace(DIRTY, sighting=seen("pending", priority="normal"), listening=ALL_QUEUES - {"flush"}),
            Reason.NO_WORKER,
            "no worker listens to 'flush'",
        ),
        (
            replace(DIRTY, sighting=seen("parked", priority="normal", ahead=2, parked_for=7.0, agent_running=1)),
            Reason.PARKED,
            "1 session running, of at most 1, 2 sessions before it",
        ),
        (
            replace(DIRTY, sighting=seen("parked", priority="normal", ahead=0, parked_for=7.0, agent_queued=1)),
            Reason.PARKED,
            "0 sessions running, 1 queued, of at most 1. It starts",
        ),
        (
            replace(DIRTY, sighting=seen("parked", priority="normal", ahead=0, parked_for=7.0)),
            Reason.PARKED,
            "although its agent has room",
        ),
        (
            replace(DIRTY, not_before=at(30), attempts=2, last_error="rate limit"),
            Reason.BACKING_OFF,
            "until 14:00:30 UTC (in 30 s) after an error (attempt 2 of 4): rate limit",
        ),
        (
            replace(DIRTY, not_before=at(30), failures=7, last_error="connection refused"),
            Reason.BACKING_OFF,
            "7 failures in a row",
        ),
        (replace(DIRTY, sighting=None), Reason.NO_BROKER, "broker can't be reached"),
        (replace(DIRTY, invalidated_at=6, flush_due_at=at(-1)), Reason.DUE, "due for 1 s; sweeps come every 5 s"),
        (
            replace(DIRTY, invalidated_at=6, flush_due_at=at(-1), depths=(("flush", 1000),)),
            Reason.DUE,
            "is full (1,000 messages)",
        ),
        (
            replace(DIRTY, invalidated_at=6, flush_due_at=at(-60), swept_ago=50.0),
            Reason.NO_SWEEP,
            "the last was 50 s ago",
        ),
        (replace(DIRTY, invalidated_at=6, flush_due_at=at(-60), swept_ago=None), Reason.NO_SWEEP, "no trace of any"),
        (replace(DIRTY, invalidated_at=6, flush_due_at=at(20)), Reason.LOOK_AGAIN, "message is lost"),
        (replace(DIRTY, attempts=1, flush_due_at=at(5)), Reason.LOOK_AGAIN, "a worker began it and is gone"),
        (replace(DIRTY, last_seen_at=at(-200), flush_due_at=at(20)), Reason.LOOK_AGAIN, "again at 14:00:20 UTC"),
        (replace(DIRTY, flush_due_at=None), Reason.STRANDED, "no time at which it is due"),
    ],
)
def test_mistake_14_every_state_has_its_own_words(known: Facts, reason: Reason, words: str) -> None:
    waiting = waiting_for(known, RULES)
    assert waiting.reason is reason
    assert words in waiting.sentence


def test_mistake_14_three_short_messages_say_how_many_turns_are_missing() -> None:
    assert "Sooner if it passes 5 turns (3 so far)" in " ".join(waiting_for(DIRTY, RULES).also)


def test_a_switched_off_flush_is_said_and_cured_by_hand() -> None:
    waiting = waiting_for(DIRTY, AutoFlush(enabled=False))
    assert waiting.reason is Reason.SWITCHED_OFF
    assert waiting.cure is not None
    assert "slowwave session flush" in waiting.cure


def test_what_happens_beside_the_first_reason_is_said_too() -> None:
    known = replace(
        DIRTY,
        window_limit=2,
        last_error="bad event",
        quarantined=1,
        listening=frozenset({"maintenance"}),
        invalidated_at=6,
        invalidated_by="prompt",
        sighting=seen("running", expires_in=3.0, rerun="high"),
    )
    also = " ".join(waiting_for(known, RULES).also)
    for words in (
        "4 new events (seq 3 to 6), the oldest for 40 s",
        "a prompt arrived in another session",
        "offered again when this flush ends",
        "at most 2 events",
        "bad event",
        "No worker listens to the flush queues",
        "1 event of it set aside",
    ):
        assert words in also


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-3, "0 s"), (0.44, "0.4 s"), (5, "5 s"), (47, "47 s"), (185, "3 min 5 s"), (7200, "2 h"), (187_200, "2 d 4 h")],
)
def test_durations_have_at_most_two_units(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words


@given(st.floats(0, 1e9))
def test_a_duration_is_never_empty(seconds: float) -> None:
    assert duration_words(seconds)[-1] in "sdnh"


def test_a_moment_of_another_day_carries_its_date() -> None:
    assert format_time(NOW - timedelta(days=1), NOW) == "2026-03-04 14:00:00 UTC"
