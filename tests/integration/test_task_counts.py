"""Tasks are counted where they end, in one round trip, and what fails at that is no failure of the task."""

from collections.abc import Iterator
from typing import Any

import pytest
from celery import states
from redis import Redis
from sqlalchemy import Engine, text

from slowwave.coordination.wrong_types import known_aside
from slowwave.identity import SessionRef
from slowwave.messages import DELIVER_OUTBOX, FLUSH_SESSION, SWEEP_SESSIONS
from slowwave.settings import Settings
from slowwave_server.services.task_counts import TASKS_KEY, TaskCounts, counts_of
from slowwave_server.workers.app import SlowwaveApp, make_app
from slowwave_server.workers.task_counting import outcomes_of

pytestmark = pytest.mark.servers


@pytest.fixture
def app(database_url: str, redis_client: Redis, valkey_url: str) -> Iterator[SlowwaveApp]:
    app = make_app(Settings(database_url=database_url, broker_url=valkey_url))
    app.loader.import_default_modules()
    yield app
    app.close_runtime()


def counts(redis: Redis) -> TaskCounts:
    fields: Any = redis.hgetall(TASKS_KEY)
    return counts_of(fields)


def test_each_task_is_counted_with_how_it_ended_and_how_long_it_took(app: SlowwaveApp, redis_client: Redis) -> None:
    app.tasks[SWEEP_SESSIONS].apply()
    app.tasks[SWEEP_SESSIONS].apply()
    app.tasks[FLUSH_SESSION].apply(args=["default", "atlas", "s1", "an-old-ticket"])
    found = counts(redis_client)
    assert found.ended == {(SWEEP_SESSIONS, "done"): 2, (FLUSH_SESSION, "stale"): 1}
    assert 0 < found.seconds[SWEEP_SESSIONS] < 60
    assert found.reclaimed == 0
    assert redis_client.ttl(TASKS_KEY) > 0


@pytest.mark.parametrize(
    ("task", "state", "answer", "outcomes"),
    [
        (SWEEP_SESSIONS, states.SUCCESS, None, {"done": 1}),
        (SWEEP_SESSIONS, states.FAILURE, ValueError("My bicycle is green."), {"failed": 1}),
        (DELIVER_OUTBOX, states.REJECTED, None, {"rejected": 1}),
        (DELIVER_OUTBOX, states.SUCCESS, "failed", {"done": 1}),
        (FLUSH_SESSION, states.SUCCESS, "stored", {"stored": 1}),
        (FLUSH_SESSION, states.SUCCESS, "failed", {"backed_off": 1}),
        (FLUSH_SESSION, states.SUCCESS, {"stored": 7, "failed": 2}, {"stored": 7, "backed_off": 2}),
        (FLUSH_SESSION, states.SUCCESS, None, {"done": 1}),
        (FLUSH_SESSION, states.FAILURE, None, {"failed": 1}),
    ],
)
def test_an_outcome_is_one_of_a_few_words(task: str, state: str, answer: Any, outcomes: dict[str, int]) -> None:
    assert outcomes_of(task, state, answer) == outcomes


def test_a_task_that_could_not_be_counted_has_not_failed(app: SlowwaveApp, redis_client: Redis) -> None:
    redis_client.set(TASKS_KEY, "no hash")
    stale = ["default", "atlas", "s1", "an-old-ticket"]
    assert app.tasks[FLUSH_SESSION].apply(args=stale).state == states.SUCCESS
    assert not redis_client.exists(TASKS_KEY), "this one is not counted, and the key is set aside"
    assert [(one.key, one.found) for one in known_aside(redis_client)] == [(TASKS_KEY, "string")]
    app.tasks[FLUSH_SESSION].apply(args=stale)
    assert sum(counts(redis_client).ended.values()) == 1, "the next one is counted"


def test_mistake_15_a_window_whose_worker_died_is_counted_as_taken_over(
    app: SlowwaveApp, redis_client: Redis, engine: Engine
) -> None:
    runtime = app.runtime()
    runtime.memory.turn_completed("atlas", "s1", [{"role": "user", "content": "My name is Tomas."}])
    runtime.memory.session_idle("atlas", "s1")
    with engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.sessions SET attempts = 1"))  # begun, and never ended
    runtime.queue.offer(SessionRef("default", "atlas", "s1"), "normal")
    ticket = str(redis_client.get("slowwave:{default/atlas}:session:s1") or b"").split()[-1].strip("'")
    app.tasks[FLUSH_SESSION].apply(args=["default", "atlas", "s1", ticket])
    found = counts(redis_client)
    assert found.reclaimed == 1
    assert found.ended[FLUSH_SESSION, "stored"] == 1
