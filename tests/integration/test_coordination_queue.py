"""What only a real server shows: true expiry, true concurrency, a server that has forgotten the scripts."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

import pytest
from redis import Redis

from slowwave.coordination.flush_queue import FlushQueue
from slowwave.coordination.keys import HIGH_QUEUE, NORMAL_QUEUE, QUEUES
from slowwave.coordination.outcomes import FlushClaim, Offer, Release, Taken, Verdict
from slowwave.coordination.queue_messages import new_id
from slowwave.identity import SessionRef

T = TypeVar("T")

pytestmark = pytest.mark.servers

BREAKFAST, LUNCH, DINNER = (SessionRef("default", "Maya", name) for name in ("breakfast", "lunch", "dinner"))


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait at most 10 s for a condition, looking a hundred times a second."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def at_once(call: Callable[[], T], times: int) -> list[T]:
    """Call it from many threads at the same moment."""
    barrier = Barrier(times)

    def wait_and_call() -> T:
        barrier.wait(10)
        return call()

    with ThreadPoolExecutor(times) as pool:
        return [future.result() for future in [pool.submit(wait_and_call) for _ in range(times)]]


def test_mistake_05_a_lost_message_and_a_dead_worker_block_nothing_for_ever(redis_client: Redis) -> None:
    queue = FlushQueue(redis_client, ticket_seconds=0.05, lease_seconds=0.05)
    queue.offer(BREAKFAST, "normal")
    wait_until(lambda: queue.inspect(BREAKFAST).state == "idle", "the ticket expires")
    assert queue.offer(BREAKFAST, "normal") is Offer.ENQUEUE
    token = new_id()
    assert queue.claim(BREAKFAST, token).ours
    wait_until(lambda: queue.inspect(BREAKFAST).state == "idle", "the lease expires")
    assert not queue.renew(BREAKFAST, token)
    assert queue.inspect(BREAKFAST).agent_running == 0
    queue.offer(LUNCH, "normal")
    assert queue.claim(LUNCH, new_id()).ours
    wait_until(lambda: queue.offer(BREAKFAST, "normal") is Offer.ENQUEUE, "the lease of lunch ends")


def test_a_renewed_lease_outlives_its_first_end(redis_client: Redis) -> None:
    queue = FlushQueue(redis_client, lease_seconds=1)
    queue.offer(BREAKFAST, "normal")
    token = new_id()
    queue.claim(BREAKFAST, token)
    end = time.monotonic() + 1.5

    def past_its_first_end() -> bool:
        assert queue.renew(BREAKFAST, token)
        assert queue.inspect(BREAKFAST).agent_running == 1
        return time.monotonic() > end

    wait_until(past_its_first_end, "one and a half leases pass")
    assert queue.release(BREAKFAST, token).ours


def test_all_keys_of_an_agent_that_is_left_alone_vanish(redis_client: Redis) -> None:
    queue = FlushQueue(redis_client, ticket_seconds=0.05, lease_seconds=0.05)
    queue.offer(BREAKFAST, "normal")
    queue.claim(BREAKFAST, new_id())
    queue.offer_many([(LUNCH, "high"), (DINNER, "high"), (DINNER, "normal")])
    wait_until(lambda: set(redis_client.keys()) <= {queue.encode() for queue in QUEUES}, "only queues are left")


def test_many_offers_at_once_make_one_message(redis_client: Redis) -> None:
    queue = FlushQueue(redis_client)
    answers = at_once(lambda: queue.offer(BREAKFAST, "normal"), 8)
    assert sorted(answers) == [Offer.DUPLICATE] * 7 + [Offer.ENQUEUE]
    assert redis_client.llen(NORMAL_QUEUE) == 1


def test_i4_many_claims_at_once_make_one_lease(redis_client: Redis) -> None:
    queue = FlushQueue(redis_client)
    queue.offer(BREAKFAST, "normal")
    verdicts = [claim.verdict for claim in at_once(lambda: queue.claim(BREAKFAST, new_id()), 8)]
    assert sorted(verdicts) == [Verdict.BUSY] * 7 + [Verdict.CLAIMED]


def test_a_server_that_forgot_the_scripts_is_taught_again(redis_client: Redis) -> None:
    queue = FlushQueue(redis_client)
    redis_client.script_flush()
    assert queue.offer_many([(BREAKFAST, "normal"), (BREAKFAST, "normal"), (LUNCH, "high")]) == [
        Offer.ENQUEUE,
        Offer.DUPLICATE,
        Offer.ENQUEUE,  # urgent: it does not wait for the message of the other one
    ]
    redis_client.script_flush()
    assert queue.offer(BREAKFAST, "normal") is Offer.DUPLICATE
    token = new_id()
    assert queue.claim(BREAKFAST, token).ours
    redis_client.script_flush()
    assert queue.renew(BREAKFAST, token)
    assert queue.release(BREAKFAST, token).ours


def test_release_precedes_take_where_take_alone_was_loaded(redis_client: Redis) -> None:
    queue = FlushQueue(redis_client)
    queue.offer_many([(BREAKFAST, "normal"), (BREAKFAST, "high")])
    redis_client.script_flush()
    assert queue.take("t0") is None, "something urgent waits"
    redis_client.delete(HIGH_QUEUE)
    assert queue.claim(BREAKFAST, "t1").ours
    released, taken = queue.release_and_take(BREAKFAST, "t1", "t2")
    assert released == Release(True, None, None)
    assert taken == Taken(BREAKFAST, "t2", FlushClaim(Verdict.STALE, None)), "its lease had ended"
    redis_client.script_flush()
    redis_client.set(NORMAL_QUEUE, "no list")
    assert queue.offer(BREAKFAST, "high") is Offer.ENQUEUE
    assert queue.claim(BREAKFAST, "t3").ours
    redis_client.delete(HIGH_QUEUE)
    assert queue.release_and_take(BREAKFAST, "t3", "t4") == (Release(True, None, None), None), "the release stands"
