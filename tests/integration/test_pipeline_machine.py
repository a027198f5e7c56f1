"""The pipeline as a state machine on real servers: capture, prompts, messages that are lost, doubled or late, workers
that die before or after their commit, an emptied Redis, time that passes. Whatever happens: I1, I2, I3, I4, I5.
"""

import json
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from redis import Redis

from slowwave.coordination.keys import HIGH_QUEUE, NORMAL_QUEUE
from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush, ExtractorSettings
from slowwave_server.domain.candidates import Window
from slowwave_server.models.engine import make_engine
from slowwave_server.services.flush.sweep import sweep
from tests.support.emptying import emptying
from tests.support.flushing import Scene, make_scene

pytestmark = pytest.mark.servers

SESSIONS = ("s1", "s2", "s3")
TABLES = (
    "agents",
    "scopes",
    "sessions",
    "events",
    "session_days",
    "flushes",
    "memories",
    "memory_sources",
    "memory_changes",
    "passages",
)


class Killed(BaseException):
    """A worker that is gone from one moment to the next."""


class Pipeline(RuleBasedStateMachine):
    """`messages` of a queue are those in Redis; a delivered message may be delivered again (`delivered`)."""

    scene: Scene

    def __init__(self) -> None:
        super().__init__()
        self.scene.queue._redis.flushall()
        with self.scene.engine.begin() as connection:
            connection.exec_driver_sql(emptying(*TABLES))
        self.scene.extractor.interrupt = lambda _window: None
        self.said: dict[str, int] = dict.fromkeys(SESSIONS, 0)
        self.delivered: list[SessionRef] = []
        self.tokens = 0

    def offer(self, session: str, *, high: bool = False) -> None:
        self.scene.queue.offer(SessionRef("default", "maya", session), "high" if high else "normal")

    @rule(session=st.sampled_from(SESSIONS), lines=st.integers(1, 4), key=st.booleans(), idle=st.booleans())
    def say(self, session: str, lines: int, key: bool, idle: bool) -> None:
        first = self.said[session]
        texts = [f"{session} line {first + n}" for n in range(lines)]
        for text in texts:
            again = {"key": text} if key else {}
            if self.scene.say(session, text, trigger="idle" if idle else None, **again):
                self.offer(session)
            if key:
                self.scene.say(session, text, **again)  # the producer was unsure and says it again
        self.said[session] += lines

    @rule(session=st.sampled_from(SESSIONS))
    def prompt_arrives(self, session: str) -> None:
        boosted = self.scene.sql(
            "SELECT session FROM slowwave.boost_sessions('default', 'maya', :s, 5, :now)",
            s=session,
            now=self.scene.clock(),
        )
        for row in boosted:
            self.offer(row.session, high=True)

    @rule(death=st.sampled_from(["none", "none", "none", "before commit", "after commit", "before release"]))
    def a_worker_takes_a_message(self, death: str) -> None:
        ref = self._take()
        if ref is not None:
            self.delivered.append(ref)
            self._work(ref, death)

    @rule(data=st.data())
    def a_message_comes_twice(self, data: st.DataObject) -> None:
        if self.delivered:
            self._work(data.draw(st.sampled_from(self.delivered)), "none")

    @rule()
    def a_message_is_lost(self) -> None:
        self._take()

    @rule()
    def redis_is_emptied(self) -> None:
        self.scene.queue._redis.flushall()

    @rule(seconds=st.sampled_from([1, 10, 61, 130, 700]))
    def time_passes(self, seconds: int) -> None:
        self.scene.clock.pass_time(seconds)
        redis = self.scene.queue._redis
        for key in redis.keys("slowwave:*"):
            value = redis.get(key) if redis.type(key) == b"string" else b"running"
            lifetime = 60 if value.startswith(b"pending") else self.scene.settings.lease_seconds
            if seconds > lifetime and not key.endswith(b":waiting"):
                redis.delete(key)

    @rule()
    def beat_sweeps(self) -> None:
        sweep(self.scene.engine, self.scene.queue, self.scene.settings, self.scene.clock())

    def _take(self) -> SessionRef | None:

        redis = self.scene.queue._redis
        raw = redis.rpop(HIGH_QUEUE) or redis.rpop(NORMAL_QUEUE)
        if raw is None:
            return None
        (tenant, agent, session, _ticket), _, _ = json.loads(json.loads(raw)["body"])
        return SessionRef(tenant, agent, session)

    def _work(self, ref: SessionRef, death: str) -> None:
        flusher = self.scene.flusher
        if death == "none":
            flusher.flush(ref)
            return
        token = f"dead-{self.tokens}"
        self.tokens += 1
        if not self.scene.queue.claim(ref, token).ours:
            return
        if death == "before commit":

            def die(_window: Window) -> None:
                raise Killed

            self.scene.extractor.interrupt = die
        try:
            flusher._flush_window(ref)  # what a worker does between claim and release; it never gets to the release
        except Killed:
            pass
        finally:
            self.scene.extractor.interrupt = lambda _window: None

    @invariant()
    def every_event_lies_in_at_most_one_window_and_windows_are_contiguous(self) -> None:
        for session in SESSIONS:
            until = 0
            for from_seq, to_seq, outcome in self.scene.windows(session):
                assert from_seq == until + 1
                assert outcome != "lost"
                until = to_seq
            for row in self.scene.sql(
                "SELECT last_seq, processed_until FROM slowwave.sessions WHERE name = :s", s=session
            ):
                assert (row.last_seq, row.processed_until) == (self.said[session], until)

    @invariant()
    def days_add_up(self) -> None:
        (row,) = self.scene.sql(
            "SELECT (SELECT coalesce(sum(total_messages), 0) FROM slowwave.session_days) AS days,"
            " (SELECT count(*) FROM slowwave.events) AS events"
        )
        assert row.days == row.events == sum(self.said.values())

    @invariant()
    def no_key_lives_for_ever(self) -> None:
        redis = self.scene.queue._redis
        assert [key for key in redis.keys("slowwave:*") if redis.ttl(key) < 0] == []

    def teardown(self) -> None:
        """The faults stop: everything becomes clean in a bounded time, with no help but the sweep's (I3)."""
        for _ in range(12):
            self.time_passes(130)
            self.beat_sweeps()
            while (ref := self._take()) is not None:
                self._work(ref, "none")
        dirty = self.scene.sql("SELECT name FROM slowwave.sessions WHERE last_seq > processed_until")
        assert [row.name for row in dirty] == []
        kept = {row.content for row in self.scene.sql("SELECT content FROM slowwave.memories")}
        assert kept == {f"{s} line {n}" for s in SESSIONS for n in range(self.said[s])}


@pytest.fixture
def scene(database_url: str, redis_client: Redis) -> Iterator[Scene]:
    bounds = ExtractorSettings(max_messages_per_flush=3)
    scene = make_scene(make_engine(database_url), redis_client, AutoFlush(extractor=bounds))
    yield scene
    scene.engine.dispose()


@pytest.mark.timeout(400)  # a slow machine is no failure
@pytest.mark.parametrize("runs", [5, pytest.param(15, marks=pytest.mark.long)])
def test_the_pipeline_keeps_its_invariants_whatever_happens(scene: Scene, runs: int) -> None:
    machine = type("Machine", (Pipeline,), {"scene": scene})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=runs, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
