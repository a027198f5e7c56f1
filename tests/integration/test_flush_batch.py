"""A turn goes on with the flushes that wait behind its own: how far, in what order, and what is done for all."""

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import redis
from celery import states
from sqlalchemy import Engine, text

from slowwave.coordination.keys import DAYS_QUEUE, HIGH_QUEUE, NORMAL_QUEUE
from slowwave.coordination.outcomes import Taken
from slowwave.identity import SessionRef
from slowwave.messages import FLUSH_SESSION
from slowwave.settings import Settings
from slowwave_server.services.flush.batch import FlushBatch
from slowwave_server.services.flush.flusher import Flusher, FlushResult
from slowwave_server.services.task_counts import TASKS_KEY, counts_of
from slowwave_server.workers.app import SlowwaveApp, make_app

pytestmark = pytest.mark.servers

AGENTS = ("atlas", "juno", "maya", "orion")
REFS = tuple(SessionRef("default", agent, "monday") for agent in AGENTS)


@pytest.fixture
def app(database_url: str, redis_client: redis.Redis, valkey_url: str, tmp_path: Path) -> Iterator[SlowwaveApp]:
    # Long enough for a slow machine: what ends these turns is their queue.
    memory: Any = {"auto_flush": {"batch_seconds": 10}, "days": {"realtime_summary_turn_threshold": 2}}
    app = make_app(Settings(database_url=database_url, broker_url=valkey_url, spool=tmp_path, memory=memory))
    app.loader.import_default_modules()
    yield app
    app.close_runtime()


def say(app: SlowwaveApp, *refs: SessionRef) -> None:
    """Make the sessions due, and offer them in this order."""
    runtime = app.runtime()
    for ref in refs:
        lines = [f"My cat is called {ref.agent.title()}.", "I live in Turin."]
        messages = [{"role": "user", "content": line} for line in lines]
        runtime.memory.turn_completed(ref.agent, ref.session, messages)
        runtime.memory.session_idle(ref.agent, ref.session)
    assert runtime.memory.flush()
    runtime.redis.delete(NORMAL_QUEUE, HIGH_QUEUE)
    for ref in refs:
        runtime.redis.delete(f"slowwave:{{default/{ref.agent}}}:session:{ref.session}")
    runtime.queue.offer_many([(ref, "normal") for ref in refs])


def received(app: SlowwaveApp) -> SessionRef:
    """The session of the next message, which a worker has received."""
    raw: Any = app.runtime().redis.rpop(NORMAL_QUEUE)
    return SessionRef(*json.loads(json.loads(raw)["body"])[0][:3])


def deliver(app: SlowwaveApp, queue: str = NORMAL_QUEUE) -> Any:
    """Run the next message of a queue as a worker that received it from there."""
    ref = received(app)
    args = [ref.tenant, ref.agent, ref.session, "ticket"]
    result = app.tasks[FLUSH_SESSION].apply(args=args, routing_key=queue)
    assert result.state == states.SUCCESS
    return result.get()


def flushed(engine: Engine) -> list[str]:
    query = """SELECT a.name FROM slowwave.flushes f JOIN slowwave.sessions s ON s.id = f.session_id
               JOIN slowwave.agents a ON a.id = s.agent_id ORDER BY f.id"""
    with engine.connect() as connection:
        return [row.name for row in connection.execute(text(query))]


def test_a_turn_goes_on_in_the_order_of_the_queue_and_leaves_nothing(
    app: SlowwaveApp, engine: Engine, redis_client: redis.Redis
) -> None:
    say(app, *REFS)
    assert deliver(app) == {"stored": 4}
    assert flushed(engine) == list(AGENTS)
    counts: Any = redis_client.hgetall(TASKS_KEY)
    assert counts_of(counts).ended[FLUSH_SESSION, "stored"] == 4
    left: Any = redis_client.keys("*")
    assert [key for key in left if b"}:" in key or key in {b"flush", b"flush.high"}] == []


def test_the_days_of_all_of_a_turns_sessions_are_asked_for(app: SlowwaveApp, redis_client: redis.Redis) -> None:
    say(app, *REFS)
    deliver(app)
    assert redis_client.llen(DAYS_QUEUE) == len(REFS)


def test_an_urgent_flush_stays_alone_in_its_turn(app: SlowwaveApp, engine: Engine, redis_client: redis.Redis) -> None:
    say(app, *REFS)
    assert deliver(app, HIGH_QUEUE) == "stored"
    assert flushed(engine) == ["atlas"]
    assert redis_client.llen(NORMAL_QUEUE) == 3


def test_i3_what_is_urgent_ends_a_turn(app: SlowwaveApp, engine: Engine, redis_client: redis.Redis) -> None:
    say(app, *REFS[:3])
    runtime = app.runtime()
    ended = 0
    for ended, _ in enumerate(runtime.batch.flush(received(app), goes_on=True), 1):
        if ended == 1:  # the next session is taken by now
            runtime.queue.offer(REFS[3], "high")
    assert ended == 2
    assert flushed(engine) == ["atlas", "juno"]
    assert (redis_client.llen(HIGH_QUEUE), redis_client.llen(NORMAL_QUEUE)) == (1, 1)


@pytest.mark.parametrize(("seconds", "flushes"), [(0.0, 1), (1.0, 1), (1.5, 2), (2.5, 3), (9.0, 4)])
def test_no_flush_begins_after_a_turns_time(app: SlowwaveApp, engine: Engine, seconds: float, flushes: int) -> None:
    say(app, *REFS)
    ticking = itertools.count()
    turn = replace(app.runtime().batch, seconds=seconds, monotonic=lambda: float(next(ticking)))
    assert len(list(turn.flush(received(app), goes_on=True))) == flushes
    assert len(flushed(engine)) == flushes


def test_what_waits_behind_a_message_that_is_no_flush_is_left_to_the_worker(
    app: SlowwaveApp, engine: Engine, redis_client: redis.Redis
) -> None:
    say(app, REFS[0], REFS[1])
    redis_client.rpush(NORMAL_QUEUE, "no message")
    first: Any = redis_client.lindex(NORMAL_QUEUE, -2)
    assert b"atlas" in first
    assert list(app.runtime().batch.flush(REFS[0], goes_on=True)) != []
    assert flushed(engine) == ["atlas"]
    assert redis_client.lindex(NORMAL_QUEUE, -1) == b"no message"


@dataclass
class Failing:
    """A flusher whose second flush fails as one does while Postgres is away."""

    flusher: Flusher
    seen: list[SessionRef] = field(default_factory=list)

    def claim(self, ref: SessionRef) -> Taken:
        return self.flusher.claim(ref)

    def run(self, taken: Taken, goes_on: Callable[[], bool]) -> tuple[FlushResult, Taken | None]:
        self.seen.append(taken.ref)
        if len(self.seen) == 2:
            raise OSError("away")
        return self.flusher.run(taken, goes_on)


def test_a_flush_that_fails_ends_its_turn_and_takes_nothing_back_of_the_others(
    app: SlowwaveApp, redis_client: redis.Redis
) -> None:
    say(app, *REFS)
    flusher: Any = Failing(app.runtime().flusher)
    flushes = FlushBatch(flusher, seconds=10, monotonic=lambda: 0.0).flush(received(app), goes_on=True)
    assert next(flushes)[0] == REFS[0]
    with pytest.raises(OSError, match="away"):
        next(flushes)
    assert redis_client.llen(NORMAL_QUEUE) == 2, "the last two were not touched"


@pytest.mark.parametrize("ref", [REFS[0], SessionRef("default", "nobody", "monday")], ids=["stored", "stale"])
def test_a_queue_that_cannot_be_read_ends_a_turn_and_fails_nothing(
    app: SlowwaveApp, redis_client: redis.Redis, ref: SessionRef
) -> None:
    say(app, REFS[0])
    redis_client.delete(NORMAL_QUEUE)
    redis_client.set(NORMAL_QUEUE, "no list")
    assert [
        (one, result.outcome in {"stored", "stale"}) for one, result in app.runtime().batch.flush(ref, goes_on=True)
    ] == [(ref, True)]


@pytest.mark.new_database
def test_in_a_new_database_a_flush_finds_its_session_by_index(app: SlowwaveApp, engine: Engine) -> None:
    """Plans are made at a connection's first flushes, when there is next to nothing to read."""
    runtime = app.runtime()
    first = [SessionRef("default", f"agent{n}", "monday") for n in range(12)]
    say(app, *first)

    def reads() -> int:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_stat_clear_snapshot()"))
            query = "SELECT seq_scan FROM pg_stat_user_tables WHERE schemaname = 'slowwave' AND relname = 'sessions'"
            return int(connection.execute(text(query)).scalar_one())

    def flush(*refs: SessionRef) -> None:
        for ref in refs:
            assert runtime.flusher.flush(ref).outcome == "stored"
        with runtime.engine.connect() as connection:
            connection.execute(text("SELECT pg_stat_force_next_flush()"))

    flush(*first)
    before = reads()
    say(app, *REFS)
    flush(*REFS)
    assert reads() == before
