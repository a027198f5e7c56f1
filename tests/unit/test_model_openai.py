"""The driver for OpenAI's API, against an endpoint that speaks it over HTTP."""

import logging
import socket
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from email.utils import format_datetime
from threading import Barrier, Thread
from typing import Any

import pytest

from proof.fake_model import FakeModel
from proof.fake_replies import (
    Asked,
    Reply,
    cut_connection,
    invalid_json,
    rate_limited,
    refused,
    server_error,
    slow,
    truncated,
)
from slowwave_server.domain.model_calls import Answer, ModelFailed, Prompt, Unanswered
from slowwave_server.services.llm.drivers import AccessRefused, RequestRefused, UnfitAnswer, prompt_tokens
from slowwave_server.services.llm.openai_driver import MAX_ANSWER_BYTES, OpenAIDriver
from tests.support.prompting import KEY, NOON, SAID, SCHEMA, driven, openai_driver, prompt

GOOD = {"memories": ["Maya has a spare key"]}


SERVER = FakeModel()
DRIVER = openai_driver(SERVER.base_url)
"""Making a client takes longer than most tests; those that teach a driver something have one of their own."""


@pytest.fixture(scope="module", autouse=True)
def _serving() -> Iterator[None]:
    with SERVER:
        yield


@contextmanager
def shared(answer: Any) -> Iterator[tuple[OpenAIDriver, FakeModel]]:
    SERVER.forget(answer)
    yield DRIVER, SERVER


def ask(driver: OpenAIDriver, asked: Prompt | None = None, *, seconds: float = 10) -> Answer:
    return driver.complete(asked or prompt(), max_output_tokens=200, timeout_seconds=seconds)


def until_understood(driver: OpenAIDriver, asked: Prompt) -> tuple[Answer, int]:
    """The answer, and how many refusals it took."""
    for refusals in range(10):
        try:
            return ask(driver, asked), refusals
        except RequestRefused:
            continue
    raise AssertionError("a driver learns what an endpoint doesn't know")


def test_an_answer_is_checked_json_with_the_tokens_that_the_endpoint_counted() -> None:
    with shared(GOOD) as (driver, fake):
        answer = ask(driver)
        assert answer.data == GOOD
        assert answer.model == "fake-1"
        assert answer.tokens == fake.tokens
        assert driver.name == "openai tiny"
        [asked] = fake.asked
        assert asked.headers["authorization"] == f"Bearer {KEY}"
        assert asked.body["max_tokens"] == 200
        assert asked.body["response_format"]["json_schema"]["strict"] is True
        assert (asked.schema, asked.user, asked.system) == (SCHEMA, SAID, "Find facts.")


def test_plain_text_and_no_reply_have_no_data() -> None:
    with shared(["Priya lives in Porto.", "`NO_REPLY`"]) as (driver, _):
        plain = ask(driver, prompt(schema=None))
        assert (plain.text, plain.data) == ("Priya lives in Porto.", None)
        assert ask(driver, prompt(no_reply="NO_REPLY")).data is None


def test_without_a_key_none_is_sent_not_even_one_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-somebody-elses")
    with FakeModel(answer=GOOD) as fake:
        ask(openai_driver(fake.base_url, key=""))
        assert "authorization" not in fake.asked[0].headers


@pytest.mark.parametrize("usage", [False, (0, 0)])
def test_tokens_that_nobody_counted_are_estimated(usage: Any) -> None:
    with shared(Reply(content=GOOD, usage=usage)) as (driver, _):
        answer = ask(driver)
        assert answer.input_tokens == prompt_tokens(prompt())
        assert 5 < answer.output_tokens < 50


@pytest.mark.parametrize(
    ("reply", "tokens", "retry_after"),
    [
        (rate_limited(), 0, None),
        (rate_limited(7), 0, 7.0),
        (rate_limited(1e12), 0, 3600.0),
        (rate_limited("nan"), 0, None),
        (rate_limited("soon"), 0, None),
        (rate_limited(format_datetime(NOON + timedelta(seconds=90), usegmt=True)), 0, 90.0),
        (rate_limited(format_datetime(NOON - timedelta(seconds=90), usegmt=True)), 0, 0.0),
        (refused(429, headers={"retry-after-ms": "1500"}), 0, 1.5),
        (server_error(503), 0, None),
        (server_error(504), None, None),
        (refused(408), None, None),
        (refused(409), 0, None),
        (cut_connection("before"), None, None),
        (cut_connection("within"), None, None),
        (slow(30), None, None),
        (Reply(drip=0.02), None, None),
        (Reply(body={"error": {"code": 502, "message": "behind me"}}), 0, None),
    ],
)
def test_mistake_10_what_passes_is_told_from_what_stays(
    reply: Reply, tokens: int | None, retry_after: float | None
) -> None:
    with shared(reply) as (driver, fake):
        with pytest.raises(Unanswered) as failed:
            ask(driver, seconds=0.3 if reply.latency or reply.drip else 10)
        assert failed.value.tokens == tokens
        assert failed.value.retry_after == retry_after
        # Mistake 17: the client's own retries would be calls that nobody reserved.
        assert fake.calls == 1


@pytest.mark.parametrize(
    ("reply", "tokens"),
    [(Reply(drip=0.9), None), (Reply(status=500, drip=0.05), 0)],
    ids=["silent after its headers", "an error without an end"],
)
def test_mistake_10_the_time_out_bounds_the_whole_call_however_an_answer_drips(
    reply: Reply, tokens: int | None
) -> None:
    with driven([reply, GOOD]) as (driver, _):
        began = time.monotonic()
        with pytest.raises(Unanswered) as failed:
            ask(driver, seconds=0.3)
        assert time.monotonic() - began < 0.8
        assert failed.value.tokens == tokens
        assert ask(driver).data == GOOD


def test_i7_a_count_of_tokens_that_can_t_be_is_none() -> None:
    with shared(Reply(content=GOOD, usage=(10**30, 10**30))) as (driver, _):
        assert ask(driver).tokens < 1000


def test_a_connection_that_nobody_takes_costs_nothing() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        driver = openai_driver(f"http://127.0.0.1:{free.getsockname()[1]}/v1")
        with pytest.raises(Unanswered, match="can't be reached") as failed:
            ask(driver)
    assert failed.value.tokens == 0


@pytest.mark.parametrize(
    ("reply", "kind", "says"),
    [
        (refused(401, code="invalid_api_key"), AccessRefused, r"answered 401 \(invalid_api_key\)"),
        (refused(402), AccessRefused, "402"),
        (refused(403), AccessRefused, "403"),
        (refused(429, code="insufficient_quota"), AccessRefused, "insufficient_quota"),
        (refused(404, code="model_not_found"), ModelFailed, "model_not_found"),
        (refused(400, "max_tokens is too large: 200"), ModelFailed, "400"),
        (Reply(body={"hello": "world"}), ModelFailed, "base_url"),
        (Reply(body=b"<html>no API here</html>"), ModelFailed, "base_url"),
        (Reply(body={"choices": [{"message": None}]}), ModelFailed, "base_url"),
    ],
)
def test_what_stays_is_not_asked_for_again(reply: Reply, kind: type[ModelFailed], says: str) -> None:
    with shared(reply) as (driver, fake):
        with pytest.raises(ModelFailed, match=says) as failed:
            ask(driver)
        assert type(failed.value) is kind
        assert failed.value.tokens == 0
        assert fake.calls == 1


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (invalid_json(), UnfitAnswer),
        (Reply(content={"memories": [SAID, 7]}), UnfitAnswer),
        (Reply(content={"memories": [], SAID: 1}), UnfitAnswer),
        (Reply(content=""), UnfitAnswer),
        (truncated(GOOD), ModelFailed),
        (Reply(content=GOOD, finish_reason="content_filter"), ModelFailed),
    ],
)
def test_mistake_17_an_answer_of_no_use_says_what_it_cost(reply: Reply, kind: type[ModelFailed]) -> None:
    with shared(reply) as (driver, fake):
        with pytest.raises(ModelFailed) as failed:
            ask(driver)
        assert type(failed.value) is kind
        assert failed.value.tokens == fake.tokens > 0
        assert SAID not in str(failed.value)


@pytest.mark.parametrize(
    ("refuses", "refusals"),
    [
        ((), 0),
        (("temperature",), 1),
        (("max_tokens",), 1),
        (("response_format.json_schema",), 1),
        (("temperature", "max_tokens", "response_format.json_schema"), 3),
        (("response_format",), 3),
    ],
)
def test_an_endpoint_that_lacks_a_field_is_asked_without_it_from_then_on(
    refuses: tuple[str, ...], refusals: int
) -> None:
    with driven(GOOD, refuses=refuses) as (driver, fake):
        assert until_understood(driver, prompt())[1] == refusals
        assert until_understood(driver, prompt()) == (ask(driver), 0)
        last = fake.asked[-1]
        assert {"max_tokens", "max_completion_tokens"} & set(last.body), "never without a bound"
        assert not set(refuses) & set(last.body)
        if "json_schema" not in str(last.body.get("response_format")):
            assert '"memories"' in last.system, "who can't be held to a schema is told it"


def test_a_500_that_says_which_field_is_not_valid_is_a_refusal_and_any_other_500_passes() -> None:
    """So answers the server of llama-cpp-python."""

    def answer(asked: Asked) -> Any:
        kind = asked.body.get("response_format", {}).get("type")
        if kind == "json_schema":
            return refused(500, "1 validation error: ('body', 'response_format', 'type') should be 'json_object'")
        return GOOD

    with driven(answer) as (driver, _):
        assert until_understood(driver, prompt())[1] == 1
    with driven(server_error(500)) as (driver, _), pytest.raises(Unanswered):
        ask(driver)


def test_calls_at_the_same_time_learn_the_same_thing_once() -> None:
    barrier, answers = Barrier(4), []

    def answer(asked: Asked) -> Any:
        if asked.body.get("response_format", {}).get("type") == "json_schema":
            barrier.wait(10)
            return refused(400, "response_format json_schema is not supported")
        return GOOD

    with driven(answer) as (driver, fake):
        threads = [Thread(target=lambda: answers.append(until_understood(driver, prompt())[1])) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert answers == [1, 1, 1, 1]
        assert fake.asked[-1].body["response_format"]["type"] == "json_object"
        assert fake.asked[-1].body["response_format"]["schema"] == SCHEMA


def test_i7_an_answer_without_an_end_is_not_read_to_its_end_and_counts_as_the_dearest() -> None:
    with shared(Reply(body=b" " * (MAX_ANSWER_BYTES + 1))) as (driver, _):
        with pytest.raises(ModelFailed, match="more than 4,000,000 bytes") as failed:
            ask(driver)
        assert failed.value.tokens == prompt_tokens(prompt()) + 200


def _everything_about(error: BaseException) -> str:
    """What a log, a ledger or an error tracker could make of it."""
    told = ["".join(traceback.format_exception(error))]
    seen: BaseException | None = error
    while seen is not None:
        told += [str(seen), repr(seen), str(vars(seen))]
        seen = seen.__cause__ or seen.__context__
    return "\n".join(told)


@pytest.mark.parametrize(
    "reply",
    [
        refused(400, f"what is {SAID}? {KEY}", code=KEY),
        refused(401, f"Incorrect API key provided: {KEY}", code=f"key_{KEY}"),
        refused(429, SAID, code=SAID),
        refused(500, f"{KEY} {SAID}"),
        refused(413, f"response_format is unknown to {KEY}: {SAID}"),
        Reply(body={"error": {"code": KEY, "message": SAID}}),
        Reply(content=f"{SAID} {KEY}"),
        Reply(content={"memories": [{SAID: KEY}]}),
        Reply(content={"memories": [], KEY: SAID}),
        truncated(SAID),
        cut_connection("before"),
        cut_connection("within"),
        slow(30),
        GOOD,
    ],
)
def test_keys_and_conversations_are_in_no_log_and_no_error(reply: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    told = ""
    with shared(reply) as (driver, fake):
        told += repr(driver) + driver.endpoint
        try:
            ask(driver, seconds=0.3 if reply == slow(30) else 10)
        except (Unanswered, ModelFailed) as error:
            told += _everything_about(error)
        assert fake.asked[0].headers["authorization"] == f"Bearer {KEY}", "it was there to be told"
    told += caplog.text + "".join(str(vars(record)) for record in caplog.records)
    assert KEY not in told
    assert SAID not in told
    assert "tiny" in told


def test_a_password_in_the_address_is_in_no_name() -> None:
    driver = openai_driver("http://maya:hunter2@127.0.0.1:9/v1")
    with pytest.raises(Unanswered) as failed:
        ask(driver, seconds=2)
    assert "hunter2" not in driver.endpoint + driver.name + _everything_about(failed.value) + repr(driver)
