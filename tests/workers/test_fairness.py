"""How many flushes of a loud agent begin while another one's waits: counted, so that a busy machine changes nothing.

The worker here is the least that one is: the transport of the app, one message at a time, and what its tasks do.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from kombu import Connection, Queue
from redis import Redis

from slowwave.coordination.keys import HIGH_QUEUE, NORMAL_QUEUE, agent_keys
from slowwave.coordination.outcomes import Offer, Priority
from slowwave.identity import SessionRef
from slowwave.messages import SWEEP_SESSIONS
from slowwave.settings import AutoFlush, ExtractorSettings, Settings
from slowwave_server.models.engine import make_engine
from slowwave_server.services.flush.sweep import sweep
from slowwave_server.tasks.sweep_chain import continue_sweep, is_next_link
from slowwave_server.workers.app import make_app
from slowwave_server.workers.queue_order import URGENT_IN_A_ROW, BoundedPriority
from tests.support.flushing import Scene, make_scene

pytestmark = [pytest.mark.servers, pytest.mark.workers]

MANY = 200
BACKLOG = 4 * URGENT_IN_A_ROW
BOOST = "SELECT * FROM slowwave.boost_sessions('default', 'loud', :session, 5)"


@dataclass
class OneProcess:
    """A worker with one process, in this one. `started`: the agents of the flushes that it began, in their order."""

    scene: Scene
    redis: Redis
    connection: Connection
    started: list[str] = field(default_factory=list)

    def work_until_flushed(self, agent: str) -> None:
        self.work_until(lambda: agent in self.started)

    def work_until(self, done: Callable[[], bool]) -> None:
        channel: Any = self.connection.default_channel
        queues = [Queue(name, exchange="", routing_key=name) for name in (HIGH_QUEUE, NORMAL_QUEUE)]
        with self.connection.Consumer(queues, callbacks=[self._work], accept=["json"], channel=channel) as consumer:
            consumer.qos(prefetch_count=1)
            while not done():
                self.connection.drain_events(timeout=10)

    def sweep(self, link: str | None = None) -> None:
        """What the task of a sweep does."""
        scene, redis = self.scene, self.redis
        if is_next_link(redis, link) and sweep(scene.engine, scene.queue, scene.settings, scene.clock()).more:
            continue_sweep(redis)

    def _work(self, body: Any, message: Any) -> None:
        if message.headers["task"] == SWEEP_SESSIONS:
            self.sweep(*body[0])
        else:
            _, agent, session, _ = body[0]
            result = self.scene.flusher.flush(SessionRef("default", agent, session))
            if result.window is not None:
                self.started.append(agent)
            if result.drained:
                continue_sweep(self.redis)
        message.ack()


@pytest.fixture
def process(database_url: str, redis_client: Redis, valkey_url: str) -> Iterator[OneProcess]:
    settings = AutoFlush(idle_seconds=3600, extractor=ExtractorSettings(max_messages_per_flush=1))
    scene = make_scene(make_engine(database_url), redis_client, settings)
    with make_app(Settings(broker_url=valkey_url)).connection_for_read() as connection:
        yield OneProcess(scene, redis_client, connection)
    scene.engine.dispose()


def offer(scene: Scene, agent: str, session: str, priority: Priority) -> Offer:
    return scene.queue.offer(SessionRef("default", agent, session), priority)


def many_due(scene: Scene, number: int) -> list[str]:
    """Sessions of the loud agent that are due, none of them offered yet."""
    names = [f"s{n}" for n in range(number)]
    items = [
        {
            "agent": "loud",
            "session": name,
            "trigger": "idle",
            "events": [{"kind": "user", "step": 1, "content": f"I moved into house {name}."}],
        }
        for name in names
    ]
    scene.sql(
        "SELECT due FROM slowwave.capture_batch('default', :batch, 3600, 3600, 5, 'UTC', 0, :now)",
        batch=json.dumps(items),
        now=scene.clock(),
    )
    return names


@pytest.mark.parametrize("asked_by", ["sweeps", "hooks", "both"])
def test_an_agent_with_200_due_sessions_puts_no_more_than_one_of_them_before_another(
    process: OneProcess, asked_by: str
) -> None:
    scene = process.scene
    names = many_due(scene, MANY)
    if asked_by != "sweeps":
        answers = [offer(scene, "loud", name, "normal") for name in names]
        assert (answers.count(Offer.ENQUEUE), answers.count(Offer.PARKED)) == (1, MANY - 1)
    if asked_by != "hooks":
        process.sweep()
    for number in range(4):
        agent = f"quiet-{number}"
        scene.say("s", "I live in Graz.", agent=agent, trigger="idle")
        offer(scene, agent, "s", "normal")
        began = len(process.started)
        process.work_until_flushed(agent)
        assert process.started[began:].count("loud") <= scene.settings.per_agent_concurrency
    assert process.started.count("loud") >= 3, "it goes on beside them"
    assert scene.queue.depths()[NORMAL_QUEUE] <= 2, "its next message, and perhaps a link"


@pytest.mark.parametrize("asked_by", ["sweeps", "hooks"])
def test_i3_all_that_is_due_is_read_at_full_speed_though_one_message_waits_at_a_time(
    process: OneProcess, asked_by: str
) -> None:
    """No beat is here: whoever is parked is handed on, and the next few are looked for when these are through."""
    names = many_due(process.scene, 14)
    if asked_by == "hooks":
        for name in names:
            offer(process.scene, "loud", name, "normal")
    else:
        process.sweep()
    process.work_until(lambda: len(process.started) == len(names))
    assert all(process.scene.queue.inspect(SessionRef("default", "loud", name)).state == "idle" for name in names)


@pytest.mark.parametrize("lost", ["worker", "ticket", "message", "everything"])
def test_i3_what_is_parked_behind_something_that_was_lost_is_read_after_the_next_sweeps(
    process: OneProcess, lost: str
) -> None:
    scene, redis = process.scene, process.redis
    names = many_due(scene, 6)
    answers = [offer(scene, "loud", name, "normal") for name in names]
    assert answers == [Offer.ENQUEUE, *[Offer.PARKED] * 5]
    first, keys = SessionRef("default", "loud", "s0"), agent_keys("default", "loud")
    if lost == "worker":
        assert scene.queue.claim(first, "a token of a worker that dies").ours
    if lost == "everything":
        redis.flushall()
    else:
        redis.delete(NORMAL_QUEUE)
        process.sweep()
        assert scene.queue.depths()[NORMAL_QUEUE] == 0, "until then it counts as on its way"
        # Its end comes now, so that nobody waits for it.
        redis.delete(keys.session_prefix + b"s0")
        redis.zadd(keys.running if lost == "worker" else keys.queued_normal, {"s0": 1}, xx=True)
        if lost == "message":
            redis.delete(keys.waiting)
    scene.clock.pass_time(scene.settings.retry_interval_seconds)
    process.sweep()
    process.work_until(lambda: len(process.started) == len(names))


def test_i3_an_agent_that_is_always_urgent_leaves_a_turn_to_what_is_not(process: OneProcess) -> None:
    scene = process.scene
    # A long conversation that a prompt asks for: each window begins the next one, and flush.high is never empty.
    scene.say("long", *(f"I moved house {n} times." for n in range(BACKLOG)), agent="loud", trigger="idle")
    offer(scene, "loud", "long", "high")
    scene.say("s", "I live in Graz.", agent="priya", trigger="idle")
    offer(scene, "priya", "s", "normal")
    process.work_until_flushed("priya")
    waited = process.started.index("priya")
    assert waited == URGENT_IN_A_ROW, "strict until then, and no longer"


def test_a_window_of_a_backlog_goes_behind_those_who_wait(process: OneProcess) -> None:
    scene = process.scene
    scene.say("long", *(f"I moved house {n} times." for n in range(BACKLOG)), agent="loud", trigger="idle")
    for priority in ("normal", "high"):
        process.started.clear()
        offer(scene, "loud", "long", priority)
        for number in range(3):
            agent = f"{priority}-{number}"
            scene.say("s", "I live in Graz.", agent=agent, trigger="idle")
            offer(scene, agent, "s", priority)
        process.work_until_flushed(f"{priority}-2")
        assert process.started[:4] == ["loud", f"{priority}-0", f"{priority}-1", f"{priority}-2"]


def test_prompts_that_boost_the_same_agent_put_no_more_than_one_of_its_sessions_before_another(
    process: OneProcess,
) -> None:
    scene = process.scene
    for number in range(30):
        scene.say(f"s{number}", f"I moved house {number} times.", agent="loud")
    boosted = {row.session for n in range(5) for row in scene.sql(BOOST, session=f"s{29 - n}")}
    for session in sorted(boosted):
        offer(scene, "loud", session, "high")
    scene.say("s", "I live in Graz.", agent="priya", trigger="idle")
    offer(scene, "priya", "s", "high")
    process.work_until_flushed("priya")
    assert len(boosted) == scene.settings.max_cross_session_reprioritize
    assert process.started.index("priya") == scene.settings.per_agent_concurrency


def test_a_queue_that_waited_for_many_urgent_ones_gives_one_message_and_no_more() -> None:
    order = BoundedPriority(["flush.high", "flush", "capture"])
    strict = ["flush.high", "flush", "capture"]
    for _ in range(URGENT_IN_A_ROW):
        assert order.consume(3) == strict
        order.rotate("flush.high")
    assert order.consume(3) == ["flush", "flush.high", "capture"]
    order.rotate("flush.high")  # nothing waited
    assert order.consume(3) == ["flush", "flush.high", "capture"]
    order.rotate("flush")
    assert order.consume(3) == strict
    assert BoundedPriority(["flush.high"]).consume(1) == ["flush.high"]
    assert BoundedPriority().consume(0) == []
