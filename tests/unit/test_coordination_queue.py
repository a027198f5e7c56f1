"""What single answers of the queue promise, on a server in this process; the state machine's test mixes them."""

import json
from collections.abc import Iterator
from typing import Any

import fakeredis
import pytest
from redis import Redis

from slowwave.coordination.flush_queue import FlushQueue, redis_from_url
from slowwave.coordination.keys import HIGH_QUEUE, NORMAL_QUEUE, QUEUES, agent_keys
from slowwave.coordination.outcomes import FlushClaim, Offer, Parked, Priority, Release, Taken, Verdict
from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave.errors import InvalidName
from slowwave.identity import SessionRef
from slowwave.messages import FLUSH_SESSION

BREAKFAST, LUNCH, DINNER, SUPPER = (
    SessionRef("default", "Maya", name) for name in ("breakfast", "lunch", "dinner", "supper")
)


@pytest.fixture(params=[False, True], ids=["bytes", "text"])
def redis(request: pytest.FixtureRequest) -> Iterator[Redis]:
    client = fakeredis.FakeRedis(decode_responses=request.param)
    yield client
    client.close()


@pytest.fixture
def queue(redis: Redis) -> FlushQueue:
    return FlushQueue(redis)


def run(queue: FlushQueue, ref: SessionRef) -> str:
    """Bring a session under a lease, and answer the token."""
    token = new_id()
    assert queue.offer(ref, "normal") is Offer.ENQUEUE
    assert queue.claim(ref, token).ours
    return token


def park(queue: FlushQueue, ref: SessionRef, priority: Priority) -> None:
    assert queue.offer(ref, priority) is Offer.PARKED


def sessions_in(redis: Redis, name: str) -> list[str]:
    """Sessions of the waiting messages, the next one first."""
    raw: Any = redis.lrange(name, 0, -1)
    return [json.loads(json.loads(message)["body"])[0][2] for message in reversed(raw)]


def test_a_higher_offer_overtakes_and_the_older_message_is_stale(redis: Redis, queue: FlushQueue) -> None:
    assert queue.offer(BREAKFAST, "normal") is Offer.ENQUEUE
    assert queue.offer(BREAKFAST, "high") is Offer.ENQUEUE
    assert queue.offer(BREAKFAST, "normal") is Offer.DUPLICATE
    assert (sessions_in(redis, HIGH_QUEUE), sessions_in(redis, NORMAL_QUEUE)) == (["breakfast"], ["breakfast"])
    token = new_id()
    claim = queue.claim(BREAKFAST, token)
    assert (claim.verdict, claim.priority) == (Verdict.CLAIMED, "high")
    queue.release(BREAKFAST, token)
    assert queue.claim(BREAKFAST, new_id()).verdict is Verdict.STALE


def test_messages_leave_a_queue_in_the_order_of_their_offers(redis: Redis, queue: FlushQueue) -> None:
    names = ["lunch", "breakfast", "dinner"]
    queue.offer_many([(SessionRef("default", f"cook of {name}", name), "normal") for name in names])
    assert sessions_in(redis, NORMAL_QUEUE) == names


def test_a_message_that_outlived_its_ticket_may_use_the_next_one(redis: Redis, queue: FlushQueue) -> None:
    queue.offer(BREAKFAST, "normal")
    redis.delete(agent_keys("default", "Maya").session_prefix + b"breakfast")
    assert queue.claim(BREAKFAST, new_id()).verdict is Verdict.STALE
    assert queue.offer(BREAKFAST, "normal") is Offer.ENQUEUE
    assert queue.claim(BREAKFAST, new_id()).ours  # whichever of both messages comes first


def test_an_offer_during_a_flush_is_answered_at_its_release_at_the_highest_priority(queue: FlushQueue) -> None:
    token = run(queue, BREAKFAST)
    assert [queue.offer(BREAKFAST, priority) for priority in ("normal", "high", "normal")] == [Offer.RERUN] * 3
    assert queue.inspect(BREAKFAST).rerun == "high"
    assert queue.renew(BREAKFAST, token)
    assert queue.release(BREAKFAST, token).rerun == "high"


def test_parked_sessions_come_high_first_then_in_the_order_of_parking(queue: FlushQueue) -> None:
    token = run(queue, BREAKFAST)
    park(queue, LUNCH, "normal")
    park(queue, DINNER, "normal")
    park(queue, SUPPER, "high")
    assert queue.offer(DINNER, "high") is Offer.PARKED  # rises, and keeps its seniority: it was parked before supper
    assert [queue.inspect(ref).ahead for ref in (DINNER, SUPPER, LUNCH)] == [0, 1, 2]
    assert queue.offer(DINNER, "normal") is Offer.PARKED
    assert queue.inspect(DINNER).priority == "high"
    assert queue.release(BREAKFAST, token).parked == Parked(DINNER, "high")


def test_an_agent_has_one_message_in_a_queue_and_its_other_sessions_wait_in_the_order_of_their_offers(
    redis: Redis, queue: FlushQueue
) -> None:
    answers = queue.offer_many([(LUNCH, "normal"), (BREAKFAST, "normal"), (DINNER, "normal")])
    assert answers == [Offer.ENQUEUE, Offer.PARKED, Offer.PARKED]
    token = new_id()
    assert queue.claim(LUNCH, token).ours
    release = queue.release(LUNCH, token)
    assert (release.parked, release.behind) == (Parked(BREAKFAST, "normal"), 1)
    assert queue.offer(BREAKFAST, "normal") is Offer.ENQUEUE
    assert queue.offer(LUNCH, "normal") is Offer.PARKED  # it is wanted again, and comes behind dinner
    assert queue.claim(BREAKFAST, token).ours
    assert queue.release(BREAKFAST, token).parked == Parked(DINNER, "normal")
    assert sessions_in(redis, NORMAL_QUEUE) == ["lunch", "breakfast"]


def test_an_agent_with_two_places_has_two_messages_in_each_queue(redis: Redis) -> None:
    queue = FlushQueue(redis, per_agent_concurrency=2)
    refs = [SessionRef("default", "Maya", f"meal {number}") for number in range(6)]
    normal = queue.offer_many([(ref, "normal") for ref in refs[:3]])
    high = queue.offer_many([(ref, "high") for ref in refs[3:]])
    assert normal == high == [Offer.ENQUEUE, Offer.ENQUEUE, Offer.PARKED]
    assert queue.claim(refs[0], new_id()).ours
    assert queue.claim(refs[3], new_id()).ours
    assert queue.claim(refs[1], new_id()).verdict is Verdict.PARKED  # queued, and reached while two are running


def test_what_is_urgent_waits_for_no_message_that_is_not(redis: Redis, queue: FlushQueue) -> None:
    assert queue.offer(BREAKFAST, "normal") is Offer.ENQUEUE
    assert queue.offer(LUNCH, "high") is Offer.ENQUEUE
    assert queue.offer(BREAKFAST, "high") is Offer.PARKED  # behind lunch, and its message finds it parked
    assert queue.inspect(BREAKFAST).priority == "high"
    token = new_id()
    assert queue.claim(LUNCH, token).ours
    assert queue.claim(BREAKFAST, new_id()).verdict is Verdict.PARKED
    assert queue.release(LUNCH, token).parked == Parked(BREAKFAST, "high")
    assert sessions_in(redis, HIGH_QUEUE) == ["lunch"]


def test_i3_a_message_that_outlived_its_ticket_takes_its_session_from_its_place(
    redis: Redis, queue: FlushQueue
) -> None:
    """Where messages lie longer than tickets live, another session may have the agent's ticket at any moment."""
    queue.offer(BREAKFAST, "normal")
    redis.delete(agent_keys("default", "Maya").session_prefix + b"breakfast")
    redis.zadd(agent_keys("default", "Maya").queued_normal, {"breakfast": 1})
    assert queue.offer(LUNCH, "normal") is Offer.ENQUEUE
    assert queue.offer(BREAKFAST, "normal") is Offer.PARKED
    claim = queue.claim(BREAKFAST, new_id())
    assert (claim.verdict, claim.priority) == (Verdict.CLAIMED, "normal")
    assert queue.inspect(BREAKFAST).state == "running"
    assert redis.zcard(agent_keys("default", "Maya").waiting) == 0


def test_mistake_05_a_lost_message_keeps_its_agents_sessions_waiting_no_longer_than_its_ticket(
    redis: Redis, queue: FlushQueue
) -> None:
    queue.offer_many([(BREAKFAST, "normal"), (LUNCH, "normal")])
    redis.delete(NORMAL_QUEUE)
    assert queue.offer(LUNCH, "normal") is Offer.PARKED
    redis.delete(agent_keys("default", "Maya").session_prefix + b"breakfast")
    redis.zadd(agent_keys("default", "Maya").queued_normal, {"breakfast": 1})
    assert queue.offer(LUNCH, "normal") is Offer.ENQUEUE


def test_a_ticket_that_was_deleted_by_hand_does_not_park_its_own_session(redis: Redis, queue: FlushQueue) -> None:
    queue.offer(BREAKFAST, "normal")
    redis.delete(agent_keys("default", "Maya").session_prefix + b"breakfast")
    assert queue.offer(BREAKFAST, "normal") is Offer.ENQUEUE


def test_places_tell_microseconds_apart(redis: Redis, queue: FlushQueue) -> None:
    run(queue, BREAKFAST)
    refs = [SessionRef("default", "Maya", f"meal {number}") for number in range(8)]
    for ref in refs:
        park(queue, ref, "normal")
    places: Any = redis.zrange(agent_keys("default", "Maya").waiting, 0, -1, withscores=True)
    assert any(place % 100 for _, place in places)  # more digits than Lua prints of a number by itself
    assert [queue.inspect(ref).ahead for ref in refs] == list(range(8))


def test_an_offer_of_a_parked_session_unparks_it_when_its_agent_has_room(redis: Redis, queue: FlushQueue) -> None:
    token = run(queue, BREAKFAST)
    park(queue, LUNCH, "high")
    queue.release(BREAKFAST, token)  # and its worker dies before it offers lunch
    assert queue.offer(LUNCH, "normal") is Offer.ENQUEUE
    assert sessions_in(redis, HIGH_QUEUE) == ["lunch"]  # at its place's priority
    assert queue.inspect(LUNCH).state == "pending"


def test_mistake_08_a_crashed_lease_makes_room(redis: Redis, queue: FlushQueue) -> None:
    token = run(queue, BREAKFAST)
    park(queue, LUNCH, "normal")
    keys = agent_keys("default", "Maya")
    redis.delete(keys.session_prefix + b"breakfast")
    redis.zadd(keys.running, {"breakfast": 1})
    assert queue.offer(LUNCH, "normal") is Offer.ENQUEUE
    assert not queue.renew(BREAKFAST, token)
    late = queue.release(BREAKFAST, token)
    assert (late.ours, late.rerun, late.parked) == (False, None, None)


def test_mistake_11_a_late_worker_neither_renews_nor_releases_the_lease_of_another(queue: FlushQueue) -> None:
    run(queue, BREAKFAST)
    park(queue, LUNCH, "high")
    assert queue.offer(BREAKFAST, "normal") is Offer.RERUN
    assert not queue.renew(BREAKFAST, "another's")
    assert queue.release(BREAKFAST, "another's") == Release(ours=False, rerun=None, parked=None)  # there is no room
    assert queue.inspect(BREAKFAST).state == "running"


def test_a_claim_that_is_asked_twice_is_ours_both_times(queue: FlushQueue) -> None:
    token = run(queue, BREAKFAST)
    assert queue.claim(BREAKFAST, token).ours
    assert queue.claim(BREAKFAST, new_id()).verdict is Verdict.BUSY


def test_agents_and_tenants_do_not_count_against_each_other(queue: FlushQueue) -> None:
    run(queue, BREAKFAST)
    run(queue, SessionRef("default", "Jonas", "breakfast"))
    run(queue, SessionRef("other", "Maya", "breakfast"))


def test_mistake_11_renewing_moves_the_end_of_the_lease_and_of_its_place_among_the_running(
    redis: Redis, queue: FlushQueue
) -> None:
    token = run(queue, BREAKFAST)
    keys = agent_keys("default", "Maya")
    redis.pexpire(keys.session_prefix + b"breakfast", 1000)
    redis.zadd(keys.running, {"breakfast": 1})
    assert queue.renew(BREAKFAST, token)
    renewed = queue.inspect(BREAKFAST)
    assert 5 < (renewed.expires_in or 0) <= 8
    assert renewed.agent_running == 1


def test_renew_many_answers_each_lease(queue: FlushQueue) -> None:
    token = run(queue, BREAKFAST)
    assert queue.renew_many([(BREAKFAST, token), (LUNCH, token)]) == [True, False]
    assert queue.renew_many([]) == []
    assert queue.offer_many([]) == []


def test_inspect_says_what_a_session_waits_for(queue: FlushQueue) -> None:
    assert queue.inspect(BREAKFAST).state == "idle"
    queue.offer(BREAKFAST, "high")
    pending = queue.inspect(BREAKFAST)
    assert (pending.state, pending.priority, pending.agent_running) == ("pending", "high", 0)
    assert 55 < (pending.expires_in or 0) <= 60
    queue.claim(BREAKFAST, new_id())
    running = queue.inspect(BREAKFAST)
    assert (running.state, running.priority, running.rerun, running.agent_running) == ("running", "high", None, 1)
    assert 5 < (running.expires_in or 0) <= 8
    park(queue, LUNCH, "normal")
    parked = queue.inspect(LUNCH)
    assert (parked.state, parked.priority, parked.ahead, parked.agent_running) == ("parked", "normal", 0, 1)
    assert 0 <= (parked.parked_for or 0) < 5
    assert (pending.agent_queued, running.agent_queued, parked.agent_queued) == (1, 0, 0)


def test_taken_are_offers_in_their_order_and_never_past_an_urgent_one(redis: Redis, queue: FlushQueue) -> None:
    others = [
        SessionRef("tenant/two %7", agent, "break:fast") for agent in ("Jonas", "Zoë", 'a"b', "猫", "~a_b-c.d é/{}%2F*")
    ]
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    queue.offer_many([(ref, "normal") for ref in others], traces=[None, trace, None, None, None])
    queue.offer(BREAKFAST, "high")
    assert queue.take("t") is None
    assert len(sessions_in(redis, NORMAL_QUEUE)) == len(others)
    redis.delete(HIGH_QUEUE)
    claimed = FlushClaim(Verdict.CLAIMED, "normal")
    assert [queue.take(f"t{n}") for n in range(len(others) + 1)] == [
        Taken(others[0], "t0", claimed),
        Taken(others[1], "t1", claimed, trace),
        *(Taken(ref, f"t{n}", claimed) for n, ref in enumerate(others[2:], 2)),
        None,
    ]
    assert all(queue.release(ref, f"t{n}").ours for n, ref in enumerate(others))


def test_release_and_take_is_one_round_trip_in_their_order(redis: Redis, queue: FlushQueue) -> None:
    """The agent's one lease ends before its next session is claimed."""
    queue.offer(BREAKFAST, "normal")
    assert queue.claim(BREAKFAST, "t1").ours
    queue.offer(LUNCH, "high")  # parked: its agent is at its limit
    redis.delete(NORMAL_QUEUE)
    redis.set("slowwave:{default/Maya}:session:dinner", "pending normal ticket")
    redis.lpush(NORMAL_QUEUE, json.dumps(flush_message("default", "Maya", "dinner", "ticket")))
    released, taken = queue.release_and_take(BREAKFAST, "t1", "t2")
    assert (released.ours, released.parked) == (True, Parked(LUNCH, "high"))
    assert taken == Taken(DINNER, "t2", FlushClaim(Verdict.CLAIMED, "normal"))
    assert queue.release(DINNER, "t2").ours


def test_release_precedes_take_where_take_alone_was_loaded(redis: Redis, queue: FlushQueue) -> None:
    """Such as on a server that has restarted, where another worker has taken since."""
    queue.offer_many([(BREAKFAST, "normal"), (BREAKFAST, "high")])
    redis.script_flush()
    assert queue.take("t0") is None, "something urgent waits"
    redis.delete(HIGH_QUEUE)
    assert queue.claim(BREAKFAST, "t1").ours
    released, taken = queue.release_and_take(BREAKFAST, "t1", "t2")
    assert released == Release(True, None, None)
    assert taken == Taken(BREAKFAST, "t2", FlushClaim(Verdict.STALE, None)), "its lease had ended"


def test_release_stands_if_nothing_can_be_taken(redis: Redis, queue: FlushQueue) -> None:
    queue.offer(BREAKFAST, "normal")
    assert queue.claim(BREAKFAST, "t1").ours
    redis.delete(NORMAL_QUEUE)
    redis.set(NORMAL_QUEUE, "no list")
    released, taken = queue.release_and_take(BREAKFAST, "t1", "t2")
    assert released.ours
    assert taken is None


def flush_message(*args: Any, **headers: Any) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(envelope(FLUSH_SESSION, args, {}, NORMAL_QUEUE, task_id="m"))
    message["headers"] |= headers
    return message


MEANT = ("default", "Maya", "breakfast", "ticket")
NOT_TAKEN: list[Any] = [
    flush_message(*MEANT, task="slowwave.sweep_sessions", argsrepr=FLUSH_SESSION),
    flush_message(*MEANT[:3]),
    flush_message(*MEANT[:3], None),
    flush_message(*MEANT[:3], 7),
    flush_message(*MEANT, "more"),
    flush_message(None, *MEANT[1:]),
    flush_message(*MEANT, expires="2026-01-01T00:00:00+00:00"),
    flush_message(*MEANT, compression="application/x-gzip"),
    flush_message(*MEANT) | {"content-type": "application/x-python-serialize"},
    flush_message(*MEANT) | {"properties": {"body_encoding": "base64"}},
    flush_message(*MEANT) | {"body": json.dumps([MEANT, {"tenant": "other"}, {}])},
    flush_message(*MEANT) | {"body": "no JSON"},
    flush_message(*MEANT) | {"body": json.dumps(["four", {}])},
    flush_message(*MEANT) | {"headers": FLUSH_SESSION},
    flush_message(*MEANT, more="x" * 9000),
    [FLUSH_SESSION],
    FLUSH_SESSION,
]
NO_NAMES = [flush_message("default", "", "s", "t"), flush_message("default", "a\nb", "s", "t")]


@pytest.mark.parametrize("message", [*NOT_TAKEN, *NO_NAMES], ids=range(len(NOT_TAKEN) + len(NO_NAMES)))
def test_what_no_offer_has_written_stays_in_its_place_for_a_worker(redis: Redis, message: Any) -> None:
    queue, raw = FlushQueue(redis), json.dumps(message)
    redis.lpush(NORMAL_QUEUE, raw)
    queue.offer(LUNCH, "normal")
    before: Any = redis.lrange(NORMAL_QUEUE, 0, -1)
    assert queue.take("t") is None
    assert redis.lrange(NORMAL_QUEUE, 0, -1) == before


@pytest.mark.parametrize("raw", [b"", b"\xff\xfe slowwave.flush_session", b'{"slowwave.flush_session": [[[['])
def test_bytes_that_are_no_message_stay_in_their_place_too(raw: bytes) -> None:
    with fakeredis.FakeRedis() as redis:
        redis.lpush(NORMAL_QUEUE, raw)
        assert FlushQueue(redis).take("t") is None
        assert redis.lrange(NORMAL_QUEUE, 0, -1) == [raw]


def test_depths_count_every_queue(redis: Redis, queue: FlushQueue) -> None:
    queue.offer_many([(BREAKFAST, "high"), (LUNCH, "normal"), (SessionRef("default", "Jonas", "lunch"), "normal")])
    publish(redis, "days", envelope("slowwave.finalize_days", [], {}, "days", task_id=new_id()))
    assert queue.depths() == dict.fromkeys(QUEUES, 0) | {HIGH_QUEUE: 1, NORMAL_QUEUE: 2, "days": 1}


def test_i8_hostile_names_stay_inside_their_own_agents_keys() -> None:
    names = ["a", "a/b", "a}b", "{a", "%7D", "}", "a:session:b", "é", " ", "{}", "a%2Fb"]
    seen = [agent_keys(tenant, agent) for tenant in names for agent in names]
    assert len({keys.running for keys in seen}) == len(names) ** 2
    for keys in seen:
        tag = keys.running.split(b"{", 1)[1].split(b"}", 1)[0]
        assert keys.running == b"slowwave:{%b}:running" % tag
        assert keys.session_prefix == b"slowwave:{%b}:session:" % tag
        assert tag.count(b"/") == 1


@pytest.mark.parametrize("name", ["", "a\nb", "\x00", "a" * 201])
def test_a_name_that_could_break_an_offer_is_refused(queue: FlushQueue, name: str) -> None:
    with pytest.raises(InvalidName):
        queue.offer(SessionRef("default", name, "breakfast"), "normal")


def test_a_client_from_an_url_gives_up_in_time() -> None:
    options: dict[str, Any] = redis_from_url("redis://127.0.0.1:6379/3").connection_pool.connection_kwargs
    assert (options["socket_connect_timeout"], options["socket_timeout"], options["db"]) == (3, 10, 3)
