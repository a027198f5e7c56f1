"""What the doctor says of the model that the settings name."""

import sys

import fakeredis
import pytest
from pydantic import SecretStr

from slowwave.coordination.keys import model_breaker_key
from slowwave.settings import Llm
from slowwave_server.domain.model_calls import Unanswered
from slowwave_server.services.llm.build import build_driver
from slowwave_server.services.llm.drivers import AccessRefused
from slowwave_server.services.llm.gate import build_gate
from slowwave_server.services.reports.model_check import check_model
from tests.support.prompting import KEY, NOON

OPENAI = Llm(
    driver="openai", model="tiny", base_url="http://127.0.0.1:9/v1", api_key=SecretStr(KEY), breaker_failures=1
)


@pytest.mark.parametrize(
    ("llm", "verdict", "says"),
    [
        (Llm(), "ok", "none is set up"),
        (OPENAI, "ok", "openai tiny is set up"),
        (Llm(driver="command", command=f"{sys.executable} -m model"), "ok", "is set up"),
        (Llm(driver="openai"), "problem", "memory.llm.model names no model"),
        (Llm(driver="command"), "problem", "memory.llm.command names no program"),
        (Llm(driver="command", command="no-such-model"), "problem", "no such program"),
        (Llm(driver="command", command="model 'unclosed"), "problem", "no such program"),
    ],
)
def test_a_model_that_can_not_be_asked_is_a_problem_with_a_cure(llm: Llm, verdict: str, says: str) -> None:
    check = check_model(llm, fakeredis.FakeRedis(), lambda: NOON)
    assert check.verdict == verdict
    assert says in check.finding
    assert bool(check.cure) is (verdict == "problem")


@pytest.mark.parametrize(
    ("error", "says"), [(Unanswered("away"), "failed again and again"), (AccessRefused("401"), "refuses the key")]
)
def test_an_endpoint_that_is_given_up_for_now_is_a_problem(error: Exception, says: str) -> None:
    redis = fakeredis.FakeRedis()
    driver = build_driver(OPENAI, lambda: NOON)
    assert driver is not None
    with pytest.raises(type(error)), build_gate(redis, driver.endpoint, OPENAI).enter():
        raise error
    check = check_model(OPENAI, redis, lambda: NOON)
    assert check.verdict == "problem"
    assert says in check.finding
    assert KEY not in f"{check}"


def test_an_endpoint_is_as_bad_as_it_was_until_a_call_has_an_answer() -> None:
    """Else the doctor would call it fine between two tries, while its alert is up."""
    redis = fakeredis.FakeRedis()
    driver = build_driver(OPENAI, lambda: NOON)
    assert driver is not None
    gate = build_gate(redis, driver.endpoint, OPENAI)
    with pytest.raises(Unanswered), gate.enter():
        raise Unanswered("away")
    redis.hset(model_breaker_key(driver.endpoint), "until", 1)  # its time is over
    check = check_model(OPENAI, redis, lambda: NOON)
    assert (check.verdict, check.issue) == ("problem", "model-down")
    assert "tried by the next call" in check.finding
    with gate.enter():
        pass
    assert check_model(OPENAI, redis, lambda: NOON).verdict == "ok"


def test_without_the_broker_nothing_is_known() -> None:
    server = fakeredis.FakeServer()
    server.connected = False
    assert check_model(OPENAI, fakeredis.FakeRedis(server=server), lambda: NOON).verdict == "unknown"
