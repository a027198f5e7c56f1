"""Slots: never more calls at a time than allowed, and none lost for good, whoever dies."""

from contextlib import AbstractContextManager
from threading import Barrier, Thread

import fakeredis
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from redis import Redis

from slowwave.coordination.keys import MODEL_SLOTS_KEY
from slowwave_server.domain.failures import TransientError
from slowwave_server.services.llm.slots import Slots
from tests.support.gating import age_slots

LEASE = 100.0


def slots(
    redis: Redis, limit: int, *, wait: float = 0.0, lease: float = LEASE, pauses: list[float] | None = None
) -> Slots:
    noted: list[float] = [] if pauses is None else pauses
    return Slots(redis, limit, lease, wait, pause=noted.append, jitter=lambda: 1.0)


class SlotsMachine(RuleBasedStateMachine):
    """Workers take slots, give them back, die, and outlast their leases; the model is a list of when leases end."""

    @initialize(limit=st.integers(1, 4))
    def begin(self, limit: int) -> None:
        self.redis: Redis = fakeredis.FakeRedis()
        self.limit = limit
        self.now = 0.0
        self.live: list[tuple[float, AbstractContextManager[None]]] = []
        self.dead: list[float] = []
        # Kept: collecting one would give its slot back, which a dead worker doesn't do.
        self.bodies: list[AbstractContextManager[None]] = []

    @property
    def taken(self) -> int:
        return sum(end > self.now for end in [*self.dead, *(end for end, _ in self.live)])

    @rule(lease=st.sampled_from([50.0, 200.0]))
    def take(self, lease: float) -> None:
        slot = slots(self.redis, self.limit, lease=lease).taken()
        if self.taken < self.limit:
            slot.__enter__()
            self.live.append((self.now + lease, slot))
        else:
            with pytest.raises(TransientError, match="are running"):
                slot.__enter__()

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        _, slot = self.live.pop(data.draw(st.integers(0, len(self.live) - 1)))
        slot.__exit__(None, None, None)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def die(self, data: st.DataObject) -> None:
        end, slot = self.live.pop(data.draw(st.integers(0, len(self.live) - 1)))
        self.bodies.append(slot)
        self.dead.append(end)

    @rule(seconds=st.sampled_from([30.0, 90.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        age_slots(self.redis, seconds)

    @invariant()
    def counts_agree(self) -> None:
        if hasattr(self, "redis"):
            assert self.taken <= self.limit

    def teardown(self) -> None:
        if hasattr(self, "redis"):
            for slot in [*self.bodies, *(slot for _, slot in self.live)]:
                slot.__exit__(None, None, None)


TestSlots = SlotsMachine.TestCase
TestSlots.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)


def test_a_caller_that_waits_gets_the_slot_that_another_gives_back() -> None:
    redis = fakeredis.FakeRedis()
    first = slots(redis, 1).taken()
    first.__enter__()
    waiting = Slots(redis, 1, LEASE, 5, pause=lambda _: first.__exit__(None, None, None), jitter=lambda: 1.0)
    with waiting.taken():
        assert redis.zcard(MODEL_SLOTS_KEY) == 1
    assert redis.zcard(MODEL_SLOTS_KEY) == 0


def test_waiting_is_bounded_and_slows_down() -> None:
    redis = fakeredis.FakeRedis()
    pauses: list[float] = []
    with slots(redis, 1).taken(), pytest.raises(TransientError) as failed:
        slots(redis, 1, wait=2, pauses=pauses).taken().__enter__()
    assert sum(pauses) == pytest.approx(2)
    assert len(pauses) < 10
    assert pauses[0] < pauses[1] < pauses[2]
    assert failed.value.retry_after == 2
    assert redis.zcard(MODEL_SLOTS_KEY) == 0


def test_mistake_8_the_slot_of_a_dead_worker_ends_by_itself() -> None:
    redis = fakeredis.FakeRedis()
    dead = slots(redis, 1).taken()
    dead.__enter__()
    age_slots(redis, LEASE - 1)
    with pytest.raises(TransientError):
        slots(redis, 1).taken().__enter__()
    age_slots(redis, 1)
    with slots(redis, 1).taken():
        # It was not dead, only slow: what it gives back is not another's slot.
        dead.__exit__(None, None, None)
        assert redis.zcard(MODEL_SLOTS_KEY) == 1
    assert redis.pttl(MODEL_SLOTS_KEY) <= 0


def test_the_set_lives_as_long_as_its_longest_lease() -> None:
    redis = fakeredis.FakeRedis()
    with slots(redis, 2, lease=500).taken(), slots(redis, 2, lease=1).taken():
        assert 400_000 < redis.pttl(MODEL_SLOTS_KEY) <= 500_000


def test_a_failed_call_gives_its_slot_back() -> None:
    redis = fakeredis.FakeRedis()
    with pytest.raises(KeyError), slots(redis, 1).taken():
        raise KeyError
    assert redis.zcard(MODEL_SLOTS_KEY) == 0


def test_while_the_broker_is_away_nobody_gets_a_slot() -> None:
    server = fakeredis.FakeServer()
    redis = fakeredis.FakeRedis(server=server)
    server.connected = False
    with pytest.raises(TransientError, match="the broker can't be reached"):
        slots(redis, 1).taken().__enter__()


def test_a_broker_that_goes_away_during_a_call_does_not_spoil_its_answer() -> None:
    server = fakeredis.FakeServer()
    with slots(fakeredis.FakeRedis(server=server), 1).taken():
        server.connected = False


def test_threads_at_the_same_time_never_hold_more_than_the_limit() -> None:
    server, barrier = fakeredis.FakeServer(), Barrier(8)
    outcomes: list[str] = []

    def work() -> None:
        barrier.wait(10)
        try:
            with slots(fakeredis.FakeRedis(server=server), 3).taken():
                outcomes.append("taken")
                barrier.wait(10)
        except TransientError:
            outcomes.append("refused")
            barrier.wait(10)

    threads = [Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(outcomes) == ["refused"] * 5 + ["taken"] * 3
