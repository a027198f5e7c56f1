"""Slots and the breaker on a real server, around calls of an endpoint over HTTP."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from redis import Redis

from proof.fake_model import FakeModel
from proof.fake_replies import server_error, slow
from slowwave.coordination.keys import MODEL_SLOTS_KEY, model_breaker_key
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_calls import Unanswered
from slowwave_server.services.llm.breaker import Breaker
from slowwave_server.services.llm.gate import SharedGate
from slowwave_server.services.llm.slots import Slots
from tests.support.gating import ENDPOINT, age_breaker
from tests.support.prompting import openai_driver, prompt

pytestmark = pytest.mark.servers

LIMIT = 3


def gate(redis: Redis) -> SharedGate:
    """As a process of its own would make it."""
    slots = Slots(redis, LIMIT, lease_seconds=60, wait_seconds=30)
    return SharedGate(slots, Breaker(redis, ENDPOINT, limit=LIMIT, open_seconds=60, trial_seconds=60))


def test_never_more_calls_at_a_time_than_allowed_and_each_gets_its_turn(redis_client: Redis) -> None:
    with FakeModel(answer=slow(0.03, "fine")) as fake, ThreadPoolExecutor(10) as threads:
        driver = openai_driver(fake.base_url)

        def call(_: int) -> str:
            with gate(redis_client).enter():
                return driver.complete(prompt(schema=None), max_output_tokens=20, timeout_seconds=20).text

        assert list(threads.map(call, range(24))) == ["fine"] * 24
        assert fake.calls == 24
        assert 1 < fake.most_at_once <= LIMIT
    assert redis_client.zcard(MODEL_SLOTS_KEY) == 0


def test_a_broken_endpoint_is_left_alone_and_found_again(redis_client: Redis) -> None:
    with FakeModel(answer=[*[server_error()] * (LIMIT + 1), "back"]) as fake:
        driver = openai_driver(fake.base_url)

        def call() -> str:
            with gate(redis_client).enter():
                return driver.complete(prompt(schema=None), max_output_tokens=20, timeout_seconds=20).text

        def left_alone() -> None:
            before = fake.calls
            with pytest.raises(TransientError, match="no call is sent to it for another") as failed:
                call()
            assert failed.value.retry_after is not None
            assert 50 < failed.value.retry_after <= 60
            assert fake.calls == before

        for _ in range(LIMIT):
            with pytest.raises(Unanswered):
                call()
        left_alone()
        age_breaker(redis_client, 60)
        with pytest.raises(Unanswered):
            call()
        left_alone()
        age_breaker(redis_client, 60)
        assert call() == "back"
    assert not redis_client.exists(model_breaker_key(ENDPOINT))
    assert redis_client.zcard(MODEL_SLOTS_KEY) == 0
