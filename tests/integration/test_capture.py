"""The capture function of the database: numbers, turns, days and due times, under any sequence and concurrency."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slowwave.event_json import EventJson
from slowwave.messages import turn_events
from tests.support.capturing import broken_sessions, rows
from tests.support.emptying import emptying

pytestmark = pytest.mark.servers

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
IDLE, AGE, TURNS = 120, 600, 5


class Database:
    """Calls the functions as SQL, with the clock in the test's hand."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.connection = psycopg.connect(url, autocommit=True)
        self.now = NOW

    def capture(
        self,
        session: str,
        events: list[EventJson],
        *,
        agent: str = "maya",
        about: dict[str, str] | None = None,
        trigger: str | None = None,
        zone: str = "UTC",
        cutoff: int = 0,
    ) -> Any:
        cursor = self.connection.execute(
            "SELECT * FROM slowwave.capture_session('default', %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            (
                *(agent, session, json.dumps(events), json.dumps(about) if about else None, trigger),
                *(IDLE, AGE, TURNS, zone, cutoff, self.now),
            ),
        )
        return cursor.fetchone()

    def batch(self, items: list[dict[str, Any]], connection: psycopg.Connection[Any] | None = None) -> list[Any]:
        cursor = (connection or self.connection).execute(
            "SELECT * FROM slowwave.capture_batch('default', %s, %s, %s, %s, 'UTC', 0, %s)",
            (json.dumps(items), IDLE, AGE, TURNS, self.now),
        )
        return cursor.fetchall()

    def session(self, name: str) -> dict[str, Any]:
        cursor = self.connection.execute("SELECT to_jsonb(s) FROM slowwave.sessions s WHERE name = %s", (name,))
        row = cursor.fetchone()
        assert row is not None
        return dict(row[0])

    def due(self, name: str) -> float:
        """Seconds from now until a sweep offers the session.

        A due time may be too early, never too late: a sweep that finds it puts it right (proved in test_sweep).
        """
        session = self.session(name)
        due = datetime.fromisoformat(session["flush_due_at"])
        if session["invalidated_at"] is None:
            seen, dirty = (datetime.fromisoformat(session[column]) for column in ("last_seen_at", "dirty_since"))
            really = min(seen + timedelta(seconds=IDLE), dirty + timedelta(seconds=AGE))
            assert due <= really
            due = really
        return (due - self.now).total_seconds()

    def later(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def flushed(self, name: str) -> None:
        """What a committed flush leaves behind."""
        self.connection.execute(
            "UPDATE slowwave.sessions SET processed_until = last_seq, processed_turn = last_turn,"
            " invalidated_at = NULL, invalidated_by = NULL, dirty_since = NULL, flush_due_at = NULL WHERE name = %s",
            (name,),
        )


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    database = Database(database_url)
    yield database
    database.connection.close()


def turn(key: str, *roles: str, **fields: Any) -> list[EventJson]:
    roles = roles or ("user", "assistant")
    return turn_events([{"role": role, "content": f"{key} {role}", **fields} for role in roles], key)[0]


def test_events_are_numbered_within_their_session(database: Database) -> None:
    assert database.capture("a", turn("k1"))[:4] == (2, 2, 0, False)
    assert database.capture("b", turn("k1"))[:4] == (2, 2, 0, False)
    assert database.capture("a", turn("k2", "assistant"))[:4] == (3, 1, 0, False)
    assert rows(database.url, "SELECT turn FROM slowwave.events e ORDER BY session_id, seq") == [
        (1,),
        (1,),
        (2,),
        (1,),
        (1,),
    ]
    assert broken_sessions(database.url) == []


def test_a_repeated_key_changes_nothing(database: Database) -> None:
    database.capture("a", turn("k1"))
    before = database.session("a")
    database.later(30)
    assert database.capture("a", turn("k1"))[:3] == (2, 0, 2)
    assert database.session("a") == before


def test_of_a_call_that_is_partly_repeated_the_rest_is_added_without_gaps(database: Database) -> None:
    database.capture("a", turn("k1"))
    longer = turn("k1", "user", "assistant", "assistant", "user")
    assert database.capture("a", longer)[:3] == (4, 2, 2)
    assert rows(database.url, "SELECT seq, turn, key FROM slowwave.events ORDER BY seq") == [
        (1, 1, "k1:0"),
        (2, 1, "k1:1"),
        (3, 1, "k1:2"),
        (4, 2, "k1:3"),
    ]
    assert broken_sessions(database.url) == []


def test_a_key_twice_in_one_call_counts_once(database: Database) -> None:
    twice = turn("k", "user", "assistant", "user")
    twice[1]["key"] = twice[0]["key"]
    assert database.capture("a", twice)[:3] == (2, 2, 1)
    assert broken_sessions(database.url) == []


def test_asking_for_a_session_that_never_was_makes_none(database: Database) -> None:
    assert database.capture("ghost", [], trigger="idle")[:5] == (0, 0, 0, False, None)
    assert rows(database.url, "SELECT count(*) FROM slowwave.sessions") == [(0,)]


def test_a_session_keeps_the_scope_that_it_began_with(database: Database) -> None:
    kitchen = {"scope_kind": "room", "scope_name": "kitchen"}
    assert database.capture("a", turn("k1"), about=kitchen)[5] is None
    assert database.capture("a", turn("k2"), about=kitchen)[:2] == (4, 2)
    assert database.capture("a", turn("k3"))[:2] == (6, 2), "naming none is no other scope"
    refused = database.capture("a", turn("k4"), about={"scope_kind": "team", "scope_name": "kitchen"})
    assert refused[:3] == (6, 0, 0)
    assert refused[5] == "the session writes to scope room:kitchen already"
    assert database.capture("own", turn("k1"))[5] is None
    assert database.capture("own", turn("k2"), about=kitchen)[5] == "the session writes to scope agent:maya already"
    assert broken_sessions(database.url) == []


def test_due_time_is_the_earliest_of_its_rules(database: Database) -> None:
    database.capture("a", turn("k1"))
    assert database.due("a") == IDLE
    database.later(100)
    database.capture("a", turn("k2"))
    assert database.due("a") == IDLE, "what is said again puts idleness off"
    for number in range(3):
        database.later(115)
        database.capture("a", turn(f"more {number}"))
    assert database.due("a") == IDLE
    database.later(100)
    assert database.capture("a", turn("sixth"))[3:5] == (True, "turns")
    assert database.due("a") == 0


def test_mistake_13_maximum_age_beats_idleness(database: Database) -> None:
    database.capture("a", turn("k", "task"))
    for number in range(5):
        database.later(100)
        database.capture("a", [event | {"step": 0} for event in turn(f"k{number}", "task")])
    assert database.due("a") == AGE - 500
    database.later(90)
    database.capture("a", [event | {"step": 0} for event in turn("last", "task")])
    assert database.due("a") == AGE - 590


def test_what_was_offered_is_not_made_due_again_by_the_next_event(database: Database) -> None:
    """The sweep moves the due time of what it takes; a capture in between must not put it back."""
    for number in range(6):
        database.capture("a", turn(f"k{number}"))
    query = "SELECT session FROM slowwave.claim_due(10, 10, 30, %s, %s, %s)"
    taken = rows(database.url, query, [IDLE, AGE, database.now])
    assert taken == [("a",)]
    database.later(1)
    database.capture("a", turn("after"))
    assert database.due("a") == 29


@pytest.mark.parametrize("trigger", ["idle", "compaction", "reset"])
def test_triggers_are_due_at_once_and_say_why(database: Database, trigger: str) -> None:
    database.capture("a", turn("k1"))
    assert database.capture("a", [], trigger=trigger)[:5] == (2, 0, 0, True, trigger)
    session = database.session("a")
    assert (session["invalidated_at"], session["invalidated_by"]) == (2, trigger)
    assert database.due("a") == 0
    database.flushed("a")
    assert database.capture("a", [], trigger=trigger)[3:5] == (False, None), "a clean session has nothing to process"
    assert database.session("a")["flush_due_at"] is None


def test_a_session_that_backs_off_is_not_due_before_its_time(database: Database) -> None:
    database.capture("a", turn("k1"))
    database.connection.execute(
        "UPDATE slowwave.sessions SET not_before = %s", (database.now + timedelta(seconds=300),)
    )
    assert database.capture("a", [], trigger="idle")[3:5] == (False, "idle")
    assert database.due("a") == 300


def test_days_follow_the_agents_zone_and_cut_off(database: Database) -> None:
    """20:30 in New York belongs to that evening; 02:30 still does where the day ends at four."""
    late = turn("k1", at="2026-03-10T00:30:00+00:00") + turn("k2", at="2026-03-10T06:30:00+00:00")
    database.capture("a", late, zone="America/New_York", cutoff=4)
    database.capture("a", turn("k3"), zone="UTC")
    days = rows(database.url, "SELECT day::text, total_messages FROM slowwave.session_days ORDER BY day")
    assert days == [("2026-03-09", 4), ("2026-03-10", 2)], "a known agent keeps its own zone"
    assert broken_sessions(database.url) == []


def test_a_batch_answers_each_session_at_its_place(database: Database) -> None:
    items: list[dict[str, Any]] = [
        {"agent": "maya", "session": "z", "events": turn("k1")},
        {"agent": "jonas", "session": "a", "events": turn("k1"), "about": {"scope_kind": "room", "scope_name": "r"}},
        {"agent": "maya", "session": "a", "events": [], "trigger": "idle"},
    ]
    assert sorted(row[:4] for row in database.batch(items)) == [(0, 2, 2, 0), (1, 2, 2, 0), (2, 0, 0, 0)]
    items[1]["about"] = {"scope_kind": "room", "scope_name": "other"}
    answers = {row[0]: row[6] for row in database.batch(items)}
    assert answers == {0: None, 1: "the session writes to scope room:r already", 2: None}
    assert broken_sessions(database.url) == []


step = st.tuples(
    st.sampled_from(["a", "b"]),
    st.lists(st.sampled_from(["user", "assistant", "task"]), max_size=4),
    st.integers(0, 6),
    st.sampled_from([None, "2026-03-09T23:30:00+00:00", "2026-03-08T10:00:00+00:00"]),
    st.sampled_from(["call", "batch", "flush", "idle"]),
    st.integers(0, 400),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(step, max_size=25))
def test_i5_any_sequence_of_calls_numbers_without_gaps_and_days_add_up(database: Database, steps: list[Any]) -> None:
    database.connection.execute(emptying("agents", "scopes", "events", "session_days"))
    database.now = NOW
    known: dict[str, set[str]] = {"a": set(), "b": set()}
    for session, roles, number, at, how, pause in steps:
        database.later(pause)
        events = turn(f"k{number}", *roles, at=at) if roles else []
        if how == "flush":
            database.flushed(session)
            continue
        if how == "batch":
            (answer,) = database.batch([{"agent": "maya", "session": session, "events": events}])
            answer = answer[1:]
        else:
            answer = database.capture(session, events, trigger="idle" if how == "idle" else None)
        fresh = {event["key"] for event in events} - known[session]
        known[session] |= fresh
        assert answer[:3] == (len(known[session]), len(fresh), len(events) - len(fresh))
    assert broken_sessions(database.url) == []
    for name, last_seq, until, due in rows(
        database.url, "SELECT name, last_seq, processed_until, flush_due_at FROM slowwave.sessions"
    ):
        assert last_seq == len(known[name])
        assert (due is not None) == (last_seq > until), "dirty sessions have a due time, clean ones none (I3)"
        assert due is None or due <= database.now + timedelta(seconds=IDLE)


def test_many_writers_of_one_session_leave_no_gap_and_no_double(database: Database) -> None:
    start = threading.Barrier(8)

    def write(writer: int) -> None:
        with psycopg.connect(database.url, autocommit=True) as connection:
            start.wait()
            for number in range(25):
                # Every other key is shared by all writers: they arrive at the same time.
                key = f"shared {number}" if number % 2 else f"{writer} {number}"
                connection.execute(
                    "SELECT slowwave.capture_session('default', 'maya', 'a', %s, NULL, NULL, 120, 600, 5, 'UTC', 0)",
                    (json.dumps(turn(key)),),
                )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert rows(database.url, "SELECT last_seq FROM slowwave.sessions") == [(2 * (8 * 13 + 12),)]
    assert broken_sessions(database.url) == []


def test_batches_in_opposite_orders_do_not_wait_for_each_other(database: Database) -> None:
    """New agents, new rooms and sessions, named in opposite orders by two writers at a time."""
    start = threading.Barrier(4)

    def write(writer: int) -> None:
        with psycopg.connect(database.url, autocommit=True) as connection:
            for round_ in range(6):
                items = [
                    {
                        "agent": f"{round_} {n}",
                        "session": f"s{round_} {n}",
                        "events": turn(f"{writer}"),
                        "about": {"scope_kind": "room", "scope_name": f"{round_} {n * 7 % 10}"},
                    }
                    for n in range(10)
                ]
                start.wait()
                assert len(database.batch(items if writer % 2 else items[::-1], connection)) == 10

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert rows(database.url, "SELECT DISTINCT last_seq FROM slowwave.sessions") == [(8,)]
    assert broken_sessions(database.url) == []


def test_mistake_03_a_number_that_is_seen_has_all_before_it_committed(database: Database) -> None:
    """A reader takes the events past its watermark while many write: what it sees next never lies before it."""
    done = threading.Event()

    def write(writer: int) -> None:
        with psycopg.connect(database.url, autocommit=True) as connection:
            for number in range(40):
                connection.execute(
                    "SELECT slowwave.capture_session('default', 'maya', 'a', %s, NULL, NULL, 120, 600, 5, 'UTC', 0)",
                    (json.dumps(turn(f"{writer} {number}")),),
                )

    def read() -> list[int]:
        seen: list[int] = []
        with psycopg.connect(database.url, autocommit=True) as connection:
            while True:
                last = done.is_set()
                query = "SELECT seq FROM slowwave.events WHERE seq > %s ORDER BY seq"
                seen += [row[0] for row in connection.execute(query, (seen[-1] if seen else 0,))]
                if last:
                    return seen

    with ThreadPoolExecutor(5) as pool:
        reader = pool.submit(read)
        list(pool.map(write, range(4)))
        done.set()
        assert reader.result() == list(range(1, 321))


def test_a_boost_takes_the_oldest_other_dirty_sessions_and_skips_locked_ones(database: Database) -> None:
    for name in ("one", "two", "three", "here", "clean"):
        database.capture(name, turn(name))
        database.later(1)
    database.capture("other", turn("k"), agent="jonas")
    database.flushed("clean")
    boost = "SELECT session FROM slowwave.boost_sessions('default', 'maya', 'here', 2, %s)"
    with psycopg.connect(database.url) as holder:
        holder.execute("SELECT 1 FROM slowwave.sessions WHERE name = 'one' FOR UPDATE")
        assert sorted(rows(database.url, boost, [database.now])) == [("three",), ("two",)]
    assert sorted(rows(database.url, boost, [database.now])) == [("one",), ("two",)]
    assert (database.session("one")["invalidated_at"], database.session("one")["invalidated_by"]) == (2, "prompt")
    assert 0 < database.due("one") <= IDLE, "a lost offer costs no more than the wait that there was before"
    assert database.session("here")["boosted_at"] is None
    assert rows(database.url, "SELECT slowwave.boost_sessions('other tenant', 'maya', 'here', 5)") == []


def test_an_event_dated_far_ahead_is_dated_when_it_arrives(database: Database) -> None:
    ahead, past, far = (NOW + timedelta(days=1)).isoformat(), "2026-03-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00"
    events: list[EventJson] = [
        {"key": "far", "kind": "user", "step": 1, "content": "I live in Bergen.", "at": far},
        {"key": "near", "kind": "assistant", "step": 1, "content": "Noted.", "at": ahead},
        {"key": "past", "kind": "user", "step": 2, "content": "Yes.", "at": past, "metadata": {"a": 1}},
    ]
    for _ in range(2):
        database.capture("s", events)
    found = rows(database.url, "SELECT key, happened_at, day, metadata FROM slowwave.events ORDER BY seq")
    assert found == [
        ("far", NOW, NOW.date(), {"claimed_at": far}),
        ("near", NOW + timedelta(days=1), (NOW + timedelta(days=1)).date(), None),
        ("past", datetime(2026, 3, 1, tzinfo=UTC), date(2026, 3, 1), {"a": 1}),
    ]
    item = {"agent": "maya", "session": "b", "events": [events[0] | {"metadata": {"b": 2}}]}
    database.batch([item | {"about": None, "trigger": None}])
    batched = rows(database.url, "SELECT happened_at, metadata FROM slowwave.events WHERE metadata ? 'b'")
    assert batched == [(NOW, {"b": 2, "claimed_at": far})]
