"""How many flushes of a loud agent begin while another one's waits: counted, so that a busy machine changes nothing.

The worker here is the least that one is: the transport of the app, one message at a time, and the flusher.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from kombu import Connection, Queue
from redis import Redis

from slowwave.coordination.answers import Priority
from slowwave.coordination.keys import HIGH_QUEUE, NORMAL_QUEUE
from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush, ExtractorSettings, Settings
from tests.flushing import Scene, make_scene
from workers.app import make_app
from workers.queue_order import URGENT_IN_A_ROW, BoundedPriority

pytestmark = [pytest.mark.servers, pytest.mark.workers]

BACKLOG = 4 * URGENT_IN_A_ROW
BOOST = "SELECT * FROM slowwave.boost('default', 'loud', :session, 5)"


@dataclass
class OneProcess:
    """A worker with one process, in this one. `started`: the agents of the flushes that it began, in their order."""

    scene: Scene
    connection: Connection
    started: list[str] = field(default_factory=list)

    def work_until_flushed(self, agent: str) -> None:
        channel: Any = self.connection.default_channel
        queues = [Queue(name, exchange="", routing_key=name) for name in (HIGH_QUEUE, NORMAL_QUEUE)]
        with self.connection.Consumer(queues, callbacks=[self._work], accept=["json"], channel=channel) as consumer:
            consumer.qos(prefetch_count=1)
            while agent not in self.started:
                self.connection.drain_events(timeout=10)

    def _work(self, body: Any, message: Any) -> None:
        _, agent, session, _ = body[0]
        result = self.scene.flusher.flush(SessionRef("default", agent, session))
        if result.window is not None:
            self.started.append(agent)
        message.ack()


@pytest.fixture
def process(database_url: str, redis_client: Redis, valkey_url: str) -> Iterator[OneProcess]:
    settings = AutoFlush(idle_seconds=3600, extractor=ExtractorSettings(max_messages_per_flush=1))
    scene = make_scene(database_url, redis_client, settings)
    with make_app(Settings(broker_url=valkey_url)).connection_for_read() as connection:
        yield OneProcess(scene, connection)
    scene.engine.dispose()


def offer(scene: Scene, agent: str, session: str, priority: Priority) -> None:
    scene.queue.offer(SessionRef("default", agent, session), priority)


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


def test_five_prompts_that_boost_the_same_agent_put_no_more_than_five_of_its_sessions_before_another(
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
    assert process.started.index("priya") == scene.settings.max_cross_session_reprioritize


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
