"""The breaker of an endpoint, and the gate that every call passes."""

from collections.abc import Callable
from dataclasses import dataclass

import fakeredis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis import Redis

from slowwave.coordination.keys import MODEL_SLOTS_KEY, model_breaker_key
from slowwave.settings import Llm
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_calls import ModelFailed, Unanswered
from slowwave_server.services.llm.breaker import Breaker
from slowwave_server.services.llm.drivers import AccessRefused
from slowwave_server.services.llm.gate import SharedGate, build_gate
from slowwave_server.services.llm.slots import Slots
from tests.support.gating import ENDPOINT, age_breaker

OPEN, TRIAL, LIMIT = 60.0, 30.0, 3


def gate(redis: Redis, *, endpoint: str = ENDPOINT) -> SharedGate:
    breaker = Breaker(redis, endpoint, limit=LIMIT, open_seconds=OPEN, trial_seconds=TRIAL)
    return SharedGate(Slots(redis, 4, lease_seconds=TRIAL, wait_seconds=0), breaker)


def call(through: SharedGate, error: Exception | None = None) -> str:
    """What became of a call that ends so: "called", or the name of what kept it from being made."""
    made = False
    try:
        with through.enter():
            made = True
            if error is not None:
                raise error
    except (TransientError, ModelFailed) as caught:
        return "called" if made else type(caught).__name__
    return "called"


def away(retry_after: float | None = None) -> Unanswered:
    return Unanswered("away", retry_after=retry_after)


def opened(redis: Redis, error: Callable[[], Exception] = away) -> SharedGate:
    through = gate(redis)
    assert [call(through, error()) for _ in range(LIMIT)] == ["called"] * LIMIT
    return through


def test_failures_in_a_row_close_the_way_at_once_and_for_everyone() -> None:
    redis = fakeredis.FakeRedis()
    opened(redis)
    another_worker = gate(redis)
    with pytest.raises(TransientError, match="no call is sent to it for another 60 s") as failed:
        another_worker.enter().__enter__()
    assert failed.value.retry_after == pytest.approx(OPEN, abs=5)
    assert redis.zcard(MODEL_SLOTS_KEY) == 0
    assert call(gate(redis, endpoint="elsewhere")) == "called"


def test_only_failures_in_a_row_count_and_any_answer_ends_the_row() -> None:
    through = gate(fakeredis.FakeRedis())
    for answer in (None, ModelFailed("no JSON"), None):
        assert [call(through, away()) for _ in range(LIMIT - 1)] == ["called"] * (LIMIT - 1)
        assert call(through, answer) == "called"
    assert call(through) == "called"


def test_what_never_reached_the_endpoint_says_nothing_about_it() -> None:
    redis = fakeredis.FakeRedis()
    through = gate(redis)
    for _ in range(LIMIT + 1):
        with pytest.raises(KeyboardInterrupt), through.enter():
            raise KeyboardInterrupt
    assert not redis.exists(model_breaker_key(ENDPOINT))


def test_after_its_time_one_call_tries_and_the_others_wait_for_it() -> None:
    redis = fakeredis.FakeRedis()
    through = opened(redis)
    age_breaker(redis, OPEN)
    with through.enter():
        with pytest.raises(TransientError) as failed:
            gate(redis).enter().__enter__()
        assert failed.value.retry_after == pytest.approx(TRIAL, abs=5)
    assert call(through) == "called"
    assert not redis.exists(model_breaker_key(ENDPOINT))


def test_a_trial_that_fails_opens_it_again_at_once() -> None:
    redis = fakeredis.FakeRedis()
    through = opened(redis)
    age_breaker(redis, OPEN)
    assert call(through, away()) == "called"
    assert call(through) == "TransientError"
    age_breaker(redis, OPEN)
    assert call(through) == "called"


def test_mistake_8_a_trial_whose_worker_died_is_made_by_the_next() -> None:
    redis = fakeredis.FakeRedis()
    through = opened(redis)
    age_breaker(redis, OPEN)
    died = through.enter()
    died.__enter__()
    age_breaker(redis, TRIAL - 1)
    assert call(through) == "TransientError"
    age_breaker(redis, 1)
    assert call(through) == "called"


def test_a_late_failure_of_a_call_that_began_before_changes_nothing() -> None:
    redis = fakeredis.FakeRedis()
    late = gate(redis).enter()
    late.__enter__()
    through = opened(redis)
    age_breaker(redis, OPEN)
    with through.enter():
        late.__exit__(Unanswered, away(), None)
        age_breaker(redis, TRIAL - 1)
        assert call(through) == "TransientError", "the trial goes on"
    assert call(through) == "called"


def test_an_endpoint_that_asks_for_more_time_gets_it() -> None:
    redis = fakeredis.FakeRedis()
    through = opened(redis, lambda: away(retry_after=600))
    age_breaker(redis, 500)
    assert call(through) == "TransientError"
    age_breaker(redis, 100)
    assert call(through) == "called"


def test_a_refused_key_lets_the_rules_do_the_work_instead_of_waiting() -> None:
    redis = fakeredis.FakeRedis()
    through = opened(redis, lambda: AccessRefused("401"))
    assert call(through) == "AccessRefused"
    age_breaker(redis, OPEN)
    assert call(through) == "called"
    assert call(through) == "called"


def test_while_the_broker_is_away_nobody_passes() -> None:
    server = fakeredis.FakeServer()
    through = gate(fakeredis.FakeRedis(server=server))
    with through.enter():
        server.connected = False
    assert call(through) == "TransientError"


def test_the_gate_is_built_from_the_settings() -> None:
    redis = fakeredis.FakeRedis()
    through = build_gate(
        redis, ENDPOINT, Llm(max_concurrency=1, breaker_failures=1, breaker_seconds=5, timeout_seconds=7)
    )
    assert call(through, away()) == "called"
    with pytest.raises(TransientError) as failed:
        through.enter().__enter__()
    assert failed.value.retry_after == pytest.approx(5, abs=2)
    age_breaker(redis, 5)
    with through.enter():
        assert redis.zcard(MODEL_SLOTS_KEY) == 1
        assert 7000 < redis.pttl(MODEL_SLOTS_KEY) <= 24_000


@dataclass
class Model:
    """A breaker as one would write it with a clock of its own and a single caller."""

    now: float = 0.0
    failures: int = 0
    until: float | None = None

    def passes(self) -> bool:
        return self.until is None or self.now >= self.until

    def note(self, answered: bool) -> None:
        half_open = self.until is not None
        self.failures = 0 if answered else self.failures + 1
        if answered:
            self.until = None
        elif half_open or self.failures >= LIMIT:
            self.until = self.now + OPEN


@given(st.lists(st.sampled_from(["answers", "fails", "time"]), max_size=40))
@settings(max_examples=40, deadline=None)
def test_one_caller_sees_the_breaker_of_the_books(steps: list[str]) -> None:
    redis, model = fakeredis.FakeRedis(), Model()
    through = gate(redis)
    for step in steps:
        if step == "time":
            model.now += OPEN / 2
            age_breaker(redis, OPEN / 2)
            continue
        called = call(through, None if step == "answers" else away()) == "called"
        assert called is model.passes()
        if called:
            model.note(step == "answers")
