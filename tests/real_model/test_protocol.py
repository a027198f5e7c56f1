"""A real model reads a window, over the real protocol, from the question to committed memories.

What it finds is its own affair: a small model finds little. What it says has the right shape, costs what was counted,
and stands on events of its window.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import SecretStr
from redis import Redis

from slowwave.identity import SessionRef
from slowwave.settings import Settings
from slowwave_server.domain.candidates import ExtractionContext
from slowwave_server.domain.model_calls import Answer, ModelFailed, Prompt
from slowwave_server.domain.model_extraction import KnownContext, prompt_of, read_window
from slowwave_server.models.engine import make_engine
from slowwave_server.services.extraction.build import build_extractor
from slowwave_server.services.llm.answers import broken_rule
from slowwave_server.services.llm.drivers import RequestRefused
from slowwave_server.services.llm.openai_driver import OpenAIDriver
from tests.support.flushing import Scene, make_scene
from tests.support.modelling import turns

# Small models on small machines read some hundred tokens a second.
SECONDS = 240
LONGEST = 800
pytestmark = [pytest.mark.real_model, pytest.mark.timeout(3 * SECONDS)]

WORDS: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "is_capital": {"type": "boolean"}},
    "required": ["city", "is_capital"],
    "additionalProperties": False,
}


def ask(url: str, model: str, prompt: Prompt) -> Answer:
    """As a caller asks: again for each field that the endpoint doesn't know."""
    driver = OpenAIDriver(url, model, SecretStr(""), clock=lambda: datetime.now(UTC))
    for _ in range(5):
        try:
            return driver.complete(prompt, max_output_tokens=LONGEST, timeout_seconds=SECONDS)
        except RequestRefused:
            continue
    return driver.complete(prompt, max_output_tokens=LONGEST, timeout_seconds=SECONDS)


def ask_to_the_end(url: str, model: str, prompt: Prompt) -> Answer | ModelFailed:
    """The answer, or why there is none of use."""
    try:
        return ask(url, model, prompt)
    except ModelFailed as failure:
        return failure


def test_a_short_question_gets_json_that_fits_its_schema(model_url: str, model_name: str) -> None:
    asked = Prompt("extract", "test/1", "Name the capital.", "Of Portugal.", WORDS, "capital")
    answer = ask(model_url, model_name, asked)
    assert broken_rule(WORDS, answer.data) is None
    assert answer.input_tokens > 5
    assert answer.output_tokens > 5
    assert answer.model


def test_a_text_without_a_schema_comes_as_it_is(model_url: str, model_name: str) -> None:
    answer = ask(
        model_url, model_name, Prompt("synthesize", "test/1", "Answer in one short sentence.", "Where is Lisbon?")
    )
    assert answer.text
    assert answer.data is None


def test_the_question_for_memories_gets_json_that_fits_or_an_end_with_its_cost(model_url: str, model_name: str) -> None:
    window = turns("I am Maya, and I moved to Lisbon in May 2023.", ("assistant", "Noted!"), "My cello is from 1890.")
    context = ExtractionContext("atlas")
    asked = prompt_of(read_window(window, context), context, KnownContext(), no_reply="NO_REPLY")
    assert asked.schema is not None
    outcome = ask_to_the_end(model_url, model_name, asked)
    if isinstance(outcome, Answer):
        assert outcome.data is None or broken_rule(asked.schema, outcome.data) is None
        assert outcome.output_tokens <= LONGEST
    else:
        # The smallest models find no end: then it was cut off where it was told to be, and paid for as long as it was.
        assert "cut off" in str(outcome)
        assert outcome.tokens > LONGEST


@pytest.fixture
def scene(database_url: str, redis_client: Redis) -> Iterator[Scene]:
    made = make_scene(make_engine(database_url), redis_client)
    yield made
    made.engine.dispose()


@pytest.mark.servers
def test_a_window_is_flushed_whatever_the_model_makes_of_it(
    scene: Scene, model_url: str, model_name: str, database_url: str, redis_client: Redis
) -> None:
    llm = {"driver": "openai", "model": model_name, "base_url": model_url, "timeout_seconds": SECONDS}
    flushing = {"extractor": {"max_extraction_seconds": 2 * SECONDS}}
    settings = Settings.model_validate({"database_url": database_url, "memory": {"llm": llm, "auto_flush": flushing}})
    extractor = build_extractor(settings, scene.engine, redis_client, scene.clock)
    flusher = replace(scene.flusher, extractor=extractor)
    scene.say("s1", "I play the cello, and I moved to Lisbon in May 2023.", name="Maya", trigger="idle")
    scene.queue.offer(SessionRef("default", "maya", "s1"), "normal")
    assert flusher.flush(SessionRef("default", "maya", "s1")).outcome in {"stored", "no_reply"}
    assert scene.session("s1").processed_until == 1
    (spent,) = scene.sql("SELECT sum(tokens_settled) AS tokens, count(*) AS calls FROM slowwave.llm_calls")
    assert spent.tokens > 100
    assert spent.calls >= 1
