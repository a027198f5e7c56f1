"""How long a question waits for its vector: a bound that no endpoint, however slow, can stretch."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from slowwave.call_timeout import CallTimedOut, CallTimeout
from slowwave.embedding import EmbeddingFailed
from slowwave.recall import Questions
from tests.support.embedding import Meanings, Models


class Hanging(Meanings):
    """Answers when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.begun = 0

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.begun += 1
        self.go.wait(10)
        return super().embed(texts)


class Broken(Meanings):
    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise RuntimeError(texts[0])


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    embedder = Hanging()
    yield embedder
    embedder.go.set()


def serving(work: Callable[[Any], Any]) -> Any:
    """Postgres, as far as questions ask it."""
    return ("test meanings",) if work is not None else None


def ended(embedder: Hanging) -> None:
    embedder.go.set()
    for thread in threading.enumerate():
        if thread.name == "slowwave-call-timeout":
            thread.join(5)


def test_a_question_waits_no_longer_than_its_bound_and_then_not_at_all_for_a_while(
    hanging: Hanging, caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    questions = Questions(Models(hanging), CallTimeout(0.05, pause=30, clock=lambda: now[0]))
    began = time.monotonic()
    assert questions.vector(serving, "my secret plan") is None
    assert time.monotonic() - began < 5
    assert "no answer within 0.05 s" in caplog.text
    assert "secret plan" not in caplog.text
    now[0] = 100
    assert questions.vector(serving, "dog") is None, "one is under way still: threads don't pile up"
    assert hanging.begun == 1
    ended(hanging)
    assert questions.vector(serving, "dog") is not None
    assert hanging.begun == 2


def test_after_silence_nothing_is_asked_for_a_while(hanging: Hanging) -> None:
    now = [0.0]
    timeout = CallTimeout(0.01, pause=30, clock=lambda: now[0])
    with pytest.raises(CallTimedOut):
        timeout.run(lambda: hanging.embed(["dog"]))
    ended(hanging)
    now[0] = 29
    with pytest.raises(CallTimedOut, match="a moment ago"):
        timeout.run(lambda: 1)
    now[0] = 31
    assert timeout.run(lambda: 1) == 1


def test_whatever_a_model_raises_search_goes_on_and_the_log_quotes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    assert Questions(Models(Broken())).vector(serving, "my secret plan") is None
    assert "RuntimeError" in caplog.text
    assert "secret plan" not in caplog.text


def test_a_question_is_asked_once_a_failure_again() -> None:
    own = Meanings()
    questions = Questions(Models(own))
    own.fails = EmbeddingFailed("it is away", transient=True)
    assert questions.vector(serving, "dog") is None
    own.fails = None
    found = [questions.vector(serving, question) for question in ("dog", "dog", "car", "dog")]
    assert found[0] == found[1] == found[3]
    assert own.texts == ["dog", "car"]
