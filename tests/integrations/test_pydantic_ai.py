"""Runs of Pydantic AI with our capability: each turn once, the context in one request alone, and never a crash."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    FilePart,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from redis import Redis

from examples import pydantic_ai_memory
from examples.story import REMEMBERS
from slowwave import InvalidName, Memory
from slowwave.integrations.pydantic_ai import SlowwaveMemory
from tests.support.capturing import broken_sessions
from tests.support.framework_memories import contents, is_spooled, of_tools, recorded, unreachable, work

pytestmark = pytest.mark.servers


@pytest.fixture
def memory(tenant_memory: Memory) -> Memory:
    return tenant_memory


class Scripted:
    """A model that gives these answers one after the other (an exception is raised), and keeps what it was given."""

    def __init__(self, *answers: ModelResponse | str | Exception) -> None:
        self.seen: list[list[ModelMessage]] = []
        self._answers = list(answers)

    def __call__(self, messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        self.seen.append(messages)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return ModelResponse([TextPart(answer)]) if isinstance(answer, str) else answer


def agent_of(memory: Memory, model: Callable[..., Any], session: Any = "monday", **options: Any) -> Agent[Any, Any]:
    walls = {name: options.pop(name) for name in ("scope", "scopes") if name in options}
    capability = SlowwaveMemory(memory, options.pop("who", "atlas"), session, **walls)
    return Agent(FunctionModel(model), capabilities=[capability], **options)


def ask(agent: Agent[Any, Any], question: str, **options: Any) -> Any:
    return asyncio.run(agent.run(question, **options))


def prompts(messages: list[ModelMessage], kind: type) -> list[str]:
    parts = [part for message in messages if isinstance(message, ModelRequest) for part in message.parts]
    return [str(part.content) for part in parts if isinstance(part, kind)]


def test_images_and_files_are_recorded_by_their_words_or_counted(memory: Memory) -> None:
    question = [
        "Look at these.",
        ImageUrl("https://x.example/1", vendor_metadata={"alt_text": "a red bike"}),
        BinaryContent(b"x", media_type="application/pdf", vendor_metadata={"filename": "invoice-12.pdf"}),
        ImageUrl("https://x.example/2"),
        BinaryContent(b"x", media_type="audio/wav"),
        CachePoint(),
    ]
    picture = FilePart(BinaryContent(b"x", media_type="image/png"))
    ask(agent_of(memory, Scripted(ModelResponse([TextPart("Nice."), picture]))), question)  # type: ignore[arg-type]
    assert recorded(memory, "e.content, e.metadata -> 'left_out'") == [
        ("Look at these.\n[image: a red bike]\n[file: invoice-12.pdf]", {"image": 1, "audio": 1}),
        ("Nice.", {"image": 1}),
    ]


def test_a_run_with_tools_is_recorded_once_without_thoughts(memory: Memory) -> None:
    first = ModelResponse([ThinkingPart("Hm."), TextPart("Let me see."), ToolCallPart("look_up", {})])
    agent = agent_of(
        memory, Scripted(first, "Done.", "Hello again."), system_prompt="Be brief.", instructions="Kindly."
    )
    agent.tool_plain(look_up)
    result = ask(agent, "I adopted a beagle.")
    ask(agent, "Hello.", message_history=result.all_messages())  # mistake: the history is no news
    assert contents(memory) == ["I adopted a beagle.", "Let me see.", "Done.", "Hello.", "Hello again."]
    assert [turn for _, turn in recorded(memory, "e.kind, e.turn")] == [1] * 5 + [2] * 2
    assert of_tools(memory) == [("tool look_up", "look_up()", 1), ("tool look_up", "The result of a tool.", 1)]
    assert broken_sessions(memory.store.settings.database_url) == []


def test_a_tool_that_fails_is_recorded_as_an_error(memory: Memory) -> None:
    def book(seat: str) -> dict[str, Any]:
        """Book a seat."""
        if seat == "4A":
            raise ModelRetry("4A is taken")
        return {"seat": seat, "status": "booked"}

    calls = [ModelResponse([ToolCallPart("book", {"seat": seat}, tool_call_id=seat)]) for seat in ("4A", "4B")]
    agent = agent_of(memory, Scripted(*calls, "Done."))
    agent.tool_plain(book)
    ask(agent, "Book me a seat.")
    assert contents(memory) == ["Book me a seat.", "Done."]
    assert [content for _, content, _ in of_tools(memory)] == [
        'book(seat="4A")',
        "4A is taken",
        'book(seat="4B")',
        "seat: 4B\nstatus: booked",
    ]
    told = recorded(memory, "e.metadata")
    assert [(found or {}).get("error") for (found,) in told] == [None, None, True, None, None, None]
    assert told[2] == ({"tool": "book", "tool_call_id": "4A", "error": True},)


def look_up() -> str:
    """Look something up."""
    return "The result of a tool."


def test_another_conversation_reads_it_and_mistake_24_the_context_is_nobodys_words(memory: Memory) -> None:
    ask(agent_of(memory, Scripted("Nice.")), "I adopted a beagle called Rufus.")
    model = Scripted(ModelResponse([ToolCallPart("look_up", {})]), "Rufus.", "Yes.")
    agent = agent_of(memory, model, "tuesday", system_prompt="Be brief.")
    agent.tool_plain(look_up)
    result = ask(agent, "What is my beagle called?")
    ask(agent, "Sure?", message_history=result.all_messages())
    for seen in model.seen:
        system, said = prompts(seen, SystemPromptPart), prompts(seen, UserPromptPart)
        assert system[0] == "Be brief.", "the agent's own prompt stays the first"
        assert "Rufus" not in "".join(system)
        assert "Rufus" in said[0]
        assert "```text" in said[0]
    assert "```" not in str(result.all_messages()), "the history holds none of it"
    assert contents(memory, "tuesday") == ["What is my beagle called?", "Rufus.", "Sure?", "Yes."]


def test_the_session_is_the_conversation_that_the_history_carries_on(memory: Memory) -> None:
    agent = agent_of(memory, Scripted("One.", "Two.", "Three."), None)
    result = ask(agent, "First.")
    ask(agent, "Second.", message_history=result.all_messages())
    ask(agent, "Another conversation.")
    sessions = [session for (session,) in recorded(memory, "s.name")]
    assert sorted(sessions.count(session) for session in set(sessions)) == [2, 4]


def test_a_run_that_fails_and_is_asked_again_is_recorded_once(memory: Memory) -> None:
    agent = agent_of(memory, Scripted(RuntimeError("no answer"), RuntimeError("no answer"), "Now.", "Again."))
    for _ in range(2):
        with pytest.raises(RuntimeError):
            ask(agent, "I live in Porto.")
    ask(agent, "I live in Porto.")
    ask(agent, "I live in Porto.")  # said once more, after an answer
    assert contents(memory) == ["I live in Porto.", "Now.", "I live in Porto.", "Again."]


def test_an_answer_that_is_turned_down_was_given_to_nobody(memory: Memory) -> None:
    agent = agent_of(memory, Scripted("Wrong.", "Right."))

    @agent.output_validator
    def check(output: str) -> str:
        if output == "Wrong.":
            raise ModelRetry("try again")
        return output

    ask(agent, "What is right?")
    assert contents(memory) == ["What is right?", "Right."]


def test_streams_iterations_and_pictures(memory: Memory) -> None:
    async def stream(_messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[str]:
        yield "In "
        yield "parts."

    capability = SlowwaveMemory(memory, "atlas", lambda run: str(run.deps))
    agent = Agent(
        FunctionModel(Scripted("Stepwise."), stream_function=stream), deps_type=str, capabilities=[capability]
    )

    async def talk() -> None:
        async with agent.run_stream("Stream, please.", deps="streamed") as result:
            assert await result.get_output() == "In parts."
        picture = ["Look at this.", ImageUrl("https://example.org/a.png"), "Nice?"]
        async with agent.iter(picture, deps="stepped") as run:
            async for _ in run:
                pass

    asyncio.run(talk())
    assert contents(memory, "streamed") == ["Stream, please.", "In parts."]
    assert contents(memory, "stepped") == ["Look at this.\nNice?", "Stepwise."]


def test_runs_side_by_side_keep_apart(memory: Memory) -> None:
    capability = SlowwaveMemory(memory, "atlas", lambda run: str(run.deps))
    agent = Agent(TestModel(custom_output_text="Yes."), deps_type=str, capabilities=[capability])

    async def talk() -> None:
        await asyncio.gather(*(agent.run(f"I am {name}.", deps=name) for name in ("maya", "jonas", "priya")))

    asyncio.run(talk())
    for name in ("maya", "jonas", "priya"):
        assert contents(memory, name) == [f"I am {name}.", "Yes."]


def test_i8_a_room_is_read_and_written_only_where_it_is_named(memory: Memory) -> None:
    ask(agent_of(memory, Scripted("Noted."), scope="room:office"), "The door code is on the beagle.")
    model = Scripted("?", "?", "?")
    ask(agent_of(memory, model, "a"), "Where is the beagle?")
    ask(agent_of(memory, model, "b", who="nova"), "Where is the beagle?")
    ask(agent_of(memory, model, "c", who="nova", scopes=["room:office"]), "Where is the beagle?")
    assert ["door code" in str(seen) for seen in model.seen] == [False, False, True]
    assert recorded(memory, "k.kind, k.name", "monday") == [("room", "office")] * 2


def test_while_postgres_is_away_the_agent_answers_and_the_turn_waits_in_the_spool(tmp_path: Path) -> None:
    with unreachable(tmp_path) as memory:
        assert ask(agent_of(memory, Scripted("Still here.")), "My garden is blue.").output == "Still here."
        assert is_spooled(memory)


def test_a_session_that_cannot_be_found_or_named_breaks_no_run(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    agent = agent_of(memory, Scripted("Fine.", "Fine."), lambda run: run.deps["missing"])
    assert ask(agent, "My garden is blue.", deps={}).output == "Fine."
    assert contents(memory) == ["My garden is blue.", "Fine."], "under the run's own conversation"
    assert ask(agent_of(memory, Scripted("Fine."), lambda _run: "x" * 201), "And green.").output == "Fine."
    assert "InvalidName" in caplog.text
    assert "garden" not in caplog.text
    with pytest.raises(InvalidName):
        SlowwaveMemory(memory, "")


def test_the_example_remembers(memory: Memory, redis_client: Redis) -> None:
    answer = asyncio.run(pydantic_ai_memory.converse(memory, lambda held: work(held, redis_client)))
    assert answer == REMEMBERS
