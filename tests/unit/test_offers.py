"""Offers from the reply path: sent by a thread, dropped with one sentence when the broker is gone."""

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import fakeredis
import pytest

from slowwave.coordination.flush_queue import FlushQueue
from slowwave.coordination.keys import HIGH_QUEUE, NORMAL_QUEUE
from slowwave.coordination.outcomes import Offer, Priority
from slowwave.identity import SessionRef
from slowwave.offers import REST_SECONDS, Offers
from slowwave.settings import Settings

REFS = [SessionRef("default", "maya", f"s{number}") for number in range(3)]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class HeldQueue(FlushQueue):
    """A queue whose server answers when the test lets it."""

    def __init__(self) -> None:
        super().__init__(fakeredis.FakeRedis())
        self.may_answer = threading.Event()
        self.calls: list[list[tuple[SessionRef, Priority]]] = []

    def offer_many(
        self, offers: Iterable[tuple[SessionRef, Priority]], *, traces: Iterable[str | None] | None = None
    ) -> list[Offer]:
        self.may_answer.wait(20)
        self.calls.append(list(offers))
        return [Offer.ENQUEUE for _ in self.calls[-1]]


def settings(**flushing: Any) -> Settings:
    memory: Any = {"auto_flush": flushing}
    return Settings(spool=Path("unused"), memory=memory)


def test_a_reply_does_not_wait_for_the_broker() -> None:
    queue = HeldQueue()
    offers = Offers(settings(), queue)
    offers.enqueue_async(REFS[:1], "high")
    offers.enqueue_async(REFS[1:], "normal")
    assert not offers.settle(0.01)
    assert queue.calls == []
    queue.may_answer.set()
    assert offers.settle(20)
    assert [offer for call in queue.calls for offer in call] == [
        (REFS[0], "high"),
        (REFS[1], "normal"),
        (REFS[2], "normal"),
    ]


def test_each_priority_reaches_its_queue() -> None:
    redis = fakeredis.FakeRedis()
    offers = Offers(settings(), FlushQueue(redis))
    offers.enqueue_async(REFS[:1], "high")
    offers.enqueue([(REFS[2], "normal")])
    assert offers.settle(20)
    assert (redis.llen(HIGH_QUEUE), redis.llen(NORMAL_QUEUE)) == (1, 1)


def test_a_broker_that_is_gone_is_left_alone_for_a_while_and_mentioned_once(caplog: pytest.LogCaptureFixture) -> None:
    clock, server = Clock(), fakeredis.FakeServer()
    redis = fakeredis.FakeRedis(server=server)
    offers = Offers(settings(), FlushQueue(redis), clock=clock)
    server.connected = False
    offers.enqueue([(REFS[0], "normal")])
    server.connected = True
    offers.enqueue([(REFS[0], "normal")])
    assert redis.keys() == []
    clock.now += REST_SECONDS
    offers.enqueue([(REFS[0], "normal")])
    assert redis.llen(NORMAL_QUEUE) == 1
    server.connected = False
    offers.enqueue([(REFS[1], "normal")])
    assert [record.message.partition(":")[0] for record in caplog.records] == [
        "no flush could be enqueued; the next sweep finds the due sessions"
    ]


def test_without_auto_flush_nobody_is_woken() -> None:
    redis = fakeredis.FakeRedis()
    offers = Offers(settings(enabled=False), FlushQueue(redis))
    offers.enqueue_async(REFS, "high")
    offers.enqueue([(REFS[0], "normal")])
    assert offers.settle(1)
    assert redis.keys() == []
