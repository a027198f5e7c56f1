"""What every module for a framework relies on: limits are kept, no hook raises, no loop waits, extras are named."""

import asyncio
import subprocess
import sys
import threading
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig

from slowwave.errors import InvalidName, SpoolFull
from slowwave.integrations.langgraph import SlowwaveTurns
from slowwave.integrations.safe import NO_CONTEXT, SafeMemory, TurnPart, digest, is_context
from slowwave.messages import MAX_CONTENT_CHARACTERS, MAX_KEY_CHARACTERS, MAX_MESSAGES, turn_events
from slowwave.recall import Context, Contradiction, Day, DayLine, Hit, Utterance

SECONDS = 10.0


@dataclass
class SlowMemory:
    """Takes what the client takes; each call waits until it is let go."""

    def warm(self) -> None:
        """There is nothing to load."""

    goes_on: threading.Event = field(default_factory=threading.Event)
    taken: list[list[Any]] = field(default_factory=list)
    waited_in_vain: bool = False

    def turn_completed(self, agent: str, session: str, messages: list[Any], *, scope: str | None) -> str:
        self._wait()
        turn_events(messages, "key")
        self.taken.append(messages)
        return "a receipt"

    def prompt_arrived(self, agent: str, session: str) -> tuple[str, ...]:
        self._wait()
        return ()

    def context(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("nobody is to get here in time")

    def _wait(self) -> None:
        self.waited_in_vain |= not self.goes_on.wait(SECONDS)


class FullMemory:
    """A host whose disk is full while Postgres is away."""

    def warm(self) -> None:
        """There is nothing to load."""

    def __init__(self) -> None:
        self.is_full = True
        self.taken: list[Any] = []

    def turn_completed(self, agent: str, session: str, messages: list[Any], *, scope: str | None) -> str:
        if self.is_full:
            raise SpoolFull("Maya's turn is not recorded")
        self.taken += [message["content"] for message in messages]
        return "a receipt"


def quiet(memory: Any, **options: Any) -> SafeMemory:
    return SafeMemory(memory, "atlas", **options)


def test_the_loop_goes_on_while_a_turn_is_committed() -> None:
    memory = SlowMemory()

    async def talk() -> None:
        recording = asyncio.ensure_future(quiet(memory).arecord("monday", [TurnPart("user", "Hello.", "1")]))
        await asyncio.sleep(0)
        memory.goes_on.set()  # what a loop that waits never comes to
        await recording

    asyncio.run(talk())
    assert not memory.waited_in_vain
    assert len(memory.taken) == 1


def test_a_reply_waits_for_its_context_no_longer_than_it_may(caplog: pytest.LogCaptureFixture) -> None:
    memory = SlowMemory()

    async def ask() -> Any:
        try:
            return await quiet(memory, timeout_seconds=0.01).aboost_and_read("monday", "My seat?")
        finally:
            memory.goes_on.set()

    assert asyncio.run(ask()) == NO_CONTEXT
    assert "no context for atlas/monday within 0.01 s" in caplog.text


def test_a_reply_without_a_loop_waits_no_longer_either(caplog: pytest.LogCaptureFixture) -> None:
    memory = SlowMemory()
    try:
        assert quiet(memory, timeout_seconds=0.01).boost_and_read("monday", "My seat?") == NO_CONTEXT
    finally:
        memory.goes_on.set()
    assert "no context for atlas/monday within 0.01 s" in caplog.text


class NamedMemory:
    """Keeps who spoke."""

    def warm(self) -> None:
        """There is nothing to load."""

    def __init__(self) -> None:
        self.names: list[Any] = []

    def turn_completed(self, agent: str, session: str, messages: list[Any], *, scope: str | None) -> str:
        self.names += [message.get("name") for message in messages]
        return "a receipt"


def test_user_names_the_person_where_a_message_does_not() -> None:
    memory = NamedMemory()
    said = [
        TurnPart("user", "Hello.", "1"),
        TurnPart("assistant", "Hi.", "2"),
        TurnPart("user", "Me, too.", "3", "Priya"),
    ]
    assert quiet(memory, user="Maya").record("monday", said)
    assert memory.names == ["Maya", None, "Priya"]
    with pytest.raises(InvalidName):
        quiet(memory, user="")


def test_whatever_fails_is_logged_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    memory: Any = FullMemory()
    assert quiet(memory).record("monday", [TurnPart("user", "My garden is blue.", "1")]) is False
    assert "a turn was not recorded for atlas/monday: SpoolFull" in caplog.text
    assert "Maya" not in caplog.text


def test_i1_what_could_not_be_recorded_is_tried_again_with_the_next_turn() -> None:
    memory: Any = FullMemory()
    turns = SlowwaveTurns(memory, "atlas")
    config = RunnableConfig(configurable={"thread_id": "monday"})
    messages = [HumanMessage("My garden is blue.", id="1"), AIMessage("Nice.", id="2")]
    turns.record({"messages": messages}, config)
    memory.is_full = False
    for _ in range(2):
        turns.record({"messages": [*messages, HumanMessage("And green.", id="3")]}, config)
    assert memory.taken == ["My garden is blue.", "Nice.", "And green."]


def test_limits_are_kept_so_that_one_long_message_loses_no_turn() -> None:
    memory = SlowMemory()
    memory.goes_on.set()
    long = [
        TurnPart("user", "x" * (MAX_CONTENT_CHARACTERS + 1), "k" * 500, name="n" * 500),
        TurnPart("user", "y", "a\0b", "Maya"),
    ]
    quiet(memory).record("monday", [*long, *(TurnPart("user", str(n), str(n)) for n in range(MAX_MESSAGES))])
    assert [len(call) for call in memory.taken] == [MAX_MESSAGES, 2]
    first, second = memory.taken[0][:2]
    assert len(first["content"]) == MAX_CONTENT_CHARACTERS
    assert len(first["key"]) <= MAX_KEY_CHARACTERS
    assert "name" not in first
    assert second["name"] == "Maya"


def test_mistake_24_every_form_of_a_context_is_known_as_one() -> None:
    at = datetime(2026, 3, 5, tzinfo=UTC)
    hit = Hit("5f0c", "memory", "Maya likes tea.", 1.0, "active", at, (), None, "fact")
    other = replace(hit, id="6a1d", content="Maya likes no tea.")
    said = Utterance("monday", 3, "nova", "Maya", "Tea, please.", at, None)
    line = DayLine("said", "Maya had tea.", "Maya", "monday", 3, at)
    contexts = [
        Context(memories=(hit,)),
        Context(recent=(hit,)),
        Context(elsewhere=(said,)),
        Context(conflicts=(Contradiction(1, "value", (hit, other)),)),
        Context(days=(Day(at.date(), "nova", None, 2, final=False, lines=(line,)),)),
        Context(days=(Day(at.date(), "nova", None, 0, final=False, unsummarised=(said,)),)),
    ]
    assert all(is_context(context.to_text()) for context in contexts)
    assert all(is_context(message["content"]) for context in contexts for message in context.to_messages())
    own = ("I like tea.", "## Tea\n\n```text\n- black\n```", "I read:\n" + contexts[0].to_text(), "")
    assert not any(map(is_context, own))


def test_keys_of_other_texts_are_others() -> None:
    assert len({digest("a", "b"), digest("ab"), digest("", "ab"), digest("a", "b", ""), digest("a\ud800", "b")}) == 5


@pytest.mark.parametrize("options", [{"scope": "office"}, {"scopes": ["team:"]}, {"scopes": "room:office"}])
def test_a_name_that_cannot_be_meant_is_said_at_once(options: Any) -> None:
    with pytest.raises(InvalidName):
        quiet(SlowMemory(), **options)


def test_what_a_session_writes_to_is_read_as_well() -> None:
    assert quiet(SlowMemory(), scope="room:office", scopes=["team:red", "room:office"]).scopes == (
        "room:office",
        "team:red",
    )


def test_a_missing_extra_is_named_in_a_sentence() -> None:
    program = """
import sys
for missing in ("agents", "langchain_core", "langgraph", "pydantic_ai"):
    sys.modules[missing] = None
for module in ("openai_agents", "langgraph", "langgraph_store", "pydantic_ai"):
    try:
        __import__(f"slowwave.integrations.{module}")
    except ImportError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    lines = done.stdout.splitlines()
    named = [line.partition("the extra `")[2].partition("`")[0] for line in lines]
    assert named == ["openai-agents", "langgraph", "langgraph", "pydantic-ai"], done.stdout
