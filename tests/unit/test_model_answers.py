"""Reading answers, and what endpoints understand, without any endpoint."""

import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.recall.tokens import estimate
from slowwave_server.services.llm.answers import read_answer
from slowwave_server.services.llm.dialect import Dialect, first_dialect, is_strict
from slowwave_server.services.llm.drivers import UnfitAnswer, prompt_tokens
from tests.prompting import SCHEMA, prompt


@pytest.mark.parametrize(
    "said",
    [
        '{"memories": ["a"]}',
        '  \n{"memories": ["a"]}\n',
        '```json\n{"memories": ["a"]}\n```',
        '```\n{"memories": ["a"]}```\n',
        '<think>{"memories": 1}</think>{"memories": ["a"]}',
        '{"memories": ["\\u0000a\\ud800"]}',
        '\x00{"memories": ["a"]}',
    ],
)
def test_json_is_found_in_what_models_wrap_it_in(said: str) -> None:
    assert read_answer(prompt(), said, 5)[1] == {"memories": ["a"]}


@pytest.mark.parametrize(
    "said",
    [
        "",
        "<think>all in vain</think>",
        "no",
        "NO_REPLY",
        "{",
        "[" * 100_000,
        "[" * 900 + "]" * 900,
        "[]",
        "null",
        '{"memories": NaN}',
        '{"memories": [1]}',
        '{"memories": [], "more": 1}',
        '{"memories": ["a"]} {"memories": ["b"]}',
        "x" * 1_000_001,
    ],
    ids=range(14),
)
def test_what_does_not_fit_is_refused_with_its_cost(said: str) -> None:
    with pytest.raises(UnfitAnswer) as failed:
        read_answer(prompt(), said, 5)
    assert failed.value.tokens == 5


@given(st.text())
@settings(max_examples=50)
def test_no_answer_breaks_the_reading(said: str) -> None:
    plain = prompt(schema=None)
    with suppress(UnfitAnswer):
        text, data = read_answer(plain, said, 5)
        assert (text.encode().strip(), data) == (text.encode(), None)
    with pytest.raises(UnfitAnswer):
        read_answer(prompt(), said, 5)


@pytest.mark.parametrize("said", ["NO_REPLY", "NO_REPLY.", '"NO_REPLY"', "`NO_REPLY`\n"])
def test_no_reply_is_an_answer_only_where_the_prompt_allows_it(said: str) -> None:
    assert read_answer(prompt(no_reply="NO_REPLY"), said, 5)[1] is None
    with pytest.raises(UnfitAnswer):
        read_answer(prompt(), said, 5)


REFUSALS = [
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "Unsupported value: 'temperature' does not support 0 with this model.",
    "[{'loc': ['body', 'response_format', 'type'], 'msg': \"Input should be 'text' or 'json_object'\"}]",
    "max_completion_tokens: Extra inputs are not permitted",
    "This response_format type is unavailable now",
]


@given(st.lists(st.sampled_from(REFUSALS), max_size=30))
@settings(max_examples=50)
def test_refusals_lead_to_an_end_and_never_to_a_request_without_a_bound(refusals: list[str]) -> None:
    dialect: Dialect | None = Dialect()
    steps = 0
    for refusal in refusals:
        left = dialect.without(refusal) if dialect else None
        if left is not None:
            dialect, steps = left, steps + 1
            body = dialect.request(prompt(), model="m", max_output_tokens=9)
            assert 9 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    assert steps <= 5


@pytest.mark.parametrize(
    "refusal", ["max_tokens is too large", "temperature must be at least 0", "the context holds 4096 tokens", ""]
)
def test_a_refusal_of_a_value_is_not_one_of_its_field(refusal: str) -> None:
    assert Dialect().without(refusal) is None


def test_openai_itself_is_asked_in_its_own_words() -> None:
    assert first_dialect("api.openai.com").limits[0] == "max_completion_tokens"
    assert first_dialect("localhost").limits[0] == "max_tokens"


@pytest.mark.parametrize(
    ("changed", "strict"),
    [
        ({}, True),
        ({"additionalProperties": True}, False),
        ({"required": []}, False),
        ({"properties": {"memories": {"type": "array", "items": {"type": "object"}}}}, False),
        ({"properties": {"memories": {"anyOf": [{"type": "object", "properties": {}}]}}}, False),
    ],
)
def test_only_a_closed_schema_is_sent_as_strict(changed: dict[str, Any], strict: bool) -> None:
    schema = {**SCHEMA, **changed}
    assert is_strict(schema) is strict
    body = Dialect().request(prompt(schema=schema), model="m", max_output_tokens=9)
    assert body["response_format"]["json_schema"]["strict"] is strict


@given(st.text(max_size=200), st.text(max_size=200))
@settings(max_examples=50)
def test_i7_what_is_reserved_for_a_question_covers_every_way_of_asking_it(system: str, user: str) -> None:
    asked = prompt(system=system, user=user)
    dialect: Dialect | None = Dialect()
    while dialect is not None:
        body = dialect.request(asked, model="m", max_output_tokens=9)
        sent = sum(estimate(message["content"]) for message in body["messages"])
        assert sent <= prompt_tokens(asked)
        dialect = dialect.without("response_format")


def test_a_worker_without_a_model_does_not_wait_for_what_only_its_answers_need() -> None:
    loaded = "import sys, workers.app; print('jsonschema' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True, timeout=120)
    assert result.stdout.strip() == "False"
