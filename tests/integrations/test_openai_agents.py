"""The runner of the Agents SDK over a session of ours: each turn once, the context in the input, and never a crash."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from agents import (
    Agent,
    OpenAIConversationsSession,
    OpenAIResponsesCompactionSession,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
)
from agents.memory import Session
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from examples import openai_agents_memory
from examples.story import REMEMBERS
from slowwave import InvalidName, Memory
from slowwave.integrations.openai_agents import SlowwaveSession, words_of
from tests.support.capturing import broken_sessions
from tests.support.framework_memories import contents, is_spooled, of_tools, recorded, unreachable, work

pytestmark = pytest.mark.servers


@pytest.fixture
def memory(tenant_memory: Memory) -> Memory:
    return tenant_memory


@function_tool
def look_up() -> str:
    """Look something up."""
    return "The result of a tool."


class Compacting:
    """OpenAI's endpoint for compaction, as far as the SDK asks for it."""

    def __init__(self, output: list[Any]) -> None:
        self.responses = self
        self._output = output

    async def compact(self, **_: Any) -> Any:
        return SimpleNamespace(output=self._output, usage=None)


def says(*texts: str) -> ScriptedModel:
    return ScriptedModel([[assistant_message(text)] for text in texts])


def run(session: SlowwaveSession, model: ScriptedModel, question: Any, **agent: Any) -> Any:
    config = RunConfig(call_model_input_filter=session.add_context, tracing_disabled=True, nest_handoff_history=True)
    who = Agent("atlas", instructions="You are brief.", model=model, **agent)
    return asyncio.run(Runner.run(who, question, session=session, run_config=config))


def test_a_turn_with_tools_is_recorded_once_and_is_one_turn(memory: Memory) -> None:
    session = SlowwaveSession(memory, "atlas", SQLiteSession("monday"))
    steps = [
        [assistant_message("Let me see."), function_call("look_up", {}, call_id="1")],
        [assistant_message("Done.")],
    ]
    run(session, ScriptedModel(steps), "I adopted a beagle.", tools=[look_up])
    run(session, says("Hello again."), "Hello.")
    assert contents(memory, "monday") == [
        *("I adopted a beagle.", "Let me see.", "Done."),
        *("Hello.", "Hello again."),
    ]
    assert recorded(memory, "e.turn") == [(1,)] * 5 + [(2,)] * 2
    assert of_tools(memory) == [
        ("tool look_up", "look_up()", 1),
        ("tool look_up", "The result of a tool.", 1),
    ]
    assert broken_sessions(memory.store.settings.database_url) == []
    assert len(asyncio.run(session.get_items())) == 7, "the wrapped session has all of it, tools included"


def test_images_and_files_are_recorded_by_their_words_or_counted(memory: Memory) -> None:
    parts = [
        {"type": "input_text", "text": "Look at these."},
        {"type": "input_image", "image_url": "https://x.example/1", "alt_text": "a red bike"},
        {"type": "input_file", "filename": "invoice-12.pdf", "file_data": "eA=="},
        {"type": "input_image", "image_url": "https://x.example/2"},
        {"type": "input_audio", "input_audio": {"data": "eA==", "format": "wav"}},
    ]
    session = SlowwaveSession(memory, "atlas", "monday")
    items: list[Any] = [{"role": "user", "content": parts}, {"role": "assistant", "content": "Nice."}]
    asyncio.run(session.add_items(items))
    assert recorded(memory, "e.content, e.metadata -> 'left_out'") == [
        ("Look at these.\n[image: a red bike]\n[file: invoice-12.pdf]", {"input_image": 1, "input_audio": 1}),
        ("Nice.", None),
    ]


def test_items_of_tools_that_come_back_are_recorded_once(memory: Memory) -> None:
    session = SlowwaveSession(memory, "atlas", "monday")
    call = {"type": "function_call", "name": "book", "call_id": "c1", "arguments": '{"seat": "4A"}'}
    pieces = [{"type": "input_text", "text": "Booked."}, {"type": "input_image", "image_url": "x"}]
    result = {"type": "function_call_output", "call_id": "c1", "output": pieces}

    async def replay() -> None:
        question: Any = {"role": "user", "content": "Book 4A."}
        items: list[Any] = [call, result]
        await session.add_items([question])
        await session.add_items(items)
        await session.pop_item()  # as after an attempt that failed
        await session.add_items([result])
        await session.add_items([question, *items, {"role": "user", "content": "And 4B."}])

    asyncio.run(replay())
    assert contents(memory) == ["Book 4A.", "And 4B."]
    assert of_tools(memory) == [
        ("tool book", 'book(seat="4A")', 1),
        ("tool book", "Booked.\n[input_image]", 1),
    ]


def test_another_conversation_reads_it_and_mistake_24_the_context_is_nobodys_words(memory: Memory) -> None:
    run(SlowwaveSession(memory, "atlas", "monday"), says("Nice."), "I adopted a beagle called Rufus.")
    inner = SQLiteSession("tuesday")
    model = says("Rufus.", "Yes.")
    for question in ("What is my beagle called?", "Sure?"):
        run(SlowwaveSession(memory, "atlas", inner), model, question)
    first, second = model.calls
    assert "Rufus" in first.input[0]["content"]
    assert first.input[0]["role"] == "user"
    assert first.system_instructions.startswith("You are brief.\n\n")
    assert "Rufus" not in first.system_instructions
    assert "Rufus" in second.input[0]["content"]
    assert contents(memory, "tuesday") == ["What is my beagle called?", "Rufus.", "Sure?", "Yes."]
    assert "```" not in str(asyncio.run(inner.get_items()))


def test_a_question_asked_again_after_a_failure_is_recorded_once(memory: Memory) -> None:
    inner = SQLiteSession("monday")
    model = ScriptedModel([ModelStep(error=RuntimeError("no answer")), [assistant_message("Now.")]])
    with pytest.raises(RuntimeError):
        run(SlowwaveSession(memory, "atlas", inner), model, "I live in Porto.")
    run(SlowwaveSession(memory, "atlas", inner), model, "I live in Porto.")  # as another process would
    run(SlowwaveSession(memory, "atlas", inner), says("Again."), "I live in Porto.")  # said once more, after an answer
    assert contents(memory, "monday") == ["I live in Porto.", "Now.", "I live in Porto.", "Again."]


def test_what_is_popped_and_added_again_keeps_its_keys_and_what_is_edited_is_new(memory: Memory) -> None:
    session = SlowwaveSession(memory, "atlas", "monday")

    async def rewind() -> None:
        items: list[Any] = [{"role": "user", "content": "I live in Porto."}, {"role": "assistant", "content": "Fine."}]
        await session.add_items(items)
        popped = [await session.pop_item(), await session.pop_item()]
        await session.add_items([item for item in reversed(popped) if item])
        await session.pop_item()
        await session.pop_item()
        await session.add_items([{"role": "user", "content": "I live in Braga."}])

    asyncio.run(rewind())
    assert contents(memory, "monday") == ["I live in Porto.", "Fine.", "I live in Braga."]


def test_a_history_handed_in_again_is_recorded_once(memory: Memory) -> None:
    session = SlowwaveSession(memory, "atlas", "monday")
    first = run(session, says("Noted."), "I live in Porto.")
    config = RunConfig(tracing_disabled=True, session_input_callback=lambda _history, new: new)
    again = [*first.to_input_list(), {"role": "user", "content": "And in Braga."}]
    asyncio.run(Runner.run(Agent("atlas", model=says("Both.")), again, session=session, run_config=config))
    assert contents(memory, "monday") == ["I live in Porto.", "Noted.", "And in Braga.", "Both."]


def test_a_handoff_records_what_each_agent_said_and_no_folded_history(memory: Memory) -> None:
    session = SlowwaveSession(memory, "atlas", "monday")
    other = Agent("other", model=says("I am the other."))
    steps = [[assistant_message("Wait."), function_call("transfer_to_other", {}, call_id="1")]]
    run(session, ScriptedModel(steps), "Help me.", handoffs=[other])
    assert contents(memory, "monday") == ["Help me.", "Wait.", "I am the other."]


def test_a_compaction_and_one_that_fails_record_nothing_again(memory: Memory) -> None:
    session = SlowwaveSession(memory, "atlas", "monday")
    run(session, says("Noted."), "I live in Porto.")

    async def compact() -> None:
        before = await session.get_items()
        await session.clear_session()
        await session.add_items(before)  # as the SDK does where the compacted items can't be kept
        await session.clear_session()
        await session.add_items([before[0], {"type": "compaction", "encrypted_content": "…"}])

    asyncio.run(compact())
    assert contents(memory, "monday") == ["I live in Porto.", "Noted."]
    assert recorded(memory, "s.invalidated_by")[0] == ("reset",)


def test_the_sdks_own_compaction_around_a_session_records_nothing_again(memory: Memory) -> None:
    kept = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "I live in Porto."}]}
    summary = {"type": "compaction", "encrypted_content": "…", "id": "c1"}
    inner = SlowwaveSession(memory, "atlas", "monday")
    session = OpenAIResponsesCompactionSession("monday", inner, client=Compacting([kept, summary]))

    async def talk() -> None:
        config = RunConfig(call_model_input_filter=inner.add_context, tracing_disabled=True)
        await Runner.run(Agent("atlas", model=says("Noted.")), "I live in Porto.", session=session, run_config=config)
        await session.run_compaction({"force": True, "compaction_mode": "input"})
        await Runner.run(Agent("atlas", model=says("Nice.")), "With a cat.", session=session, run_config=config)

    asyncio.run(talk())
    assert contents(memory, "monday") == ["I live in Porto.", "Noted.", "With a cat.", "Nice."]
    assert [item.get("type", "message") for item in asyncio.run(inner.get_items())] == [
        *("message", "compaction", "message", "message")
    ]


def test_the_same_words_in_a_conversation_that_was_cleared_are_recorded(memory: Memory) -> None:
    session = SlowwaveSession(memory, "atlas", "monday")
    for home in ("Porto", "Lisbon", "Porto"):
        run(session, says("Noted."), f"I live in {home}.")
        asyncio.run(session.clear_session())
    assert contents(memory, "monday")[::2] == ["I live in Porto.", "I live in Lisbon.", "I live in Porto."]


def test_i8_a_room_is_read_and_written_only_where_it_is_named(memory: Memory) -> None:
    run(
        SlowwaveSession(memory, "atlas", "monday", scope="room:office"),
        says("Noted."),
        "The door code is on the beagle.",
    )
    model = says("?", "?", "?")
    run(SlowwaveSession(memory, "atlas", "a"), model, "Where is the beagle?")
    run(SlowwaveSession(memory, "nova", "b"), model, "Where is the beagle?")
    run(SlowwaveSession(memory, "nova", "c", scopes=["room:office"]), model, "Where is the beagle?")
    assert ["door code" in str(call.input) for call in model.calls] == [False, False, True]
    assert recorded(memory, "s.name, k.kind, k.name", "monday") == [("monday", "room", "office")] * 2
    assert recorded(memory, "k.kind, k.name", "a") == [("agent", "atlas")] * 2


def test_while_postgres_is_away_the_agent_answers_and_the_turn_waits_in_the_spool(tmp_path: Path) -> None:
    with unreachable(tmp_path) as memory:
        session = SlowwaveSession(memory, "atlas", "monday")
        model = says("Still here.")
        assert run(session, model, "My secret garden is blue.").final_output == "Still here."
        assert len(model.calls[0].input) == 1
        assert is_spooled(memory)


def test_an_error_of_the_wrapped_session_is_the_hosts_and_nothing_is_recorded(memory: Memory) -> None:
    class Full(SQLiteSession):
        async def add_items(self, items: Any) -> None:
            raise OSError("the disk is full")

    session = SlowwaveSession(memory, "atlas", Full("monday"))
    with pytest.raises(OSError, match="full"):
        asyncio.run(session.add_items([{"role": "user", "content": "I live in Porto."}]))
    assert contents(memory, "monday") == []


def test_what_cannot_be_meant_is_said_where_the_session_is_made(memory: Memory) -> None:
    with pytest.raises(InvalidName):
        SlowwaveSession(memory, "atlas", "monday", scopes=["office"])
    with pytest.raises(TypeError, match="can't be wrapped"):
        SlowwaveSession(memory, "atlas", OpenAIConversationsSession(conversation_id="c", openai_client=object()))
    assert isinstance(SlowwaveSession(memory, "atlas", "monday"), Session)


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (
            {"role": "user", "content": [{"type": "input_text", "text": "Hi."}, {"type": "input_image"}]},
            ("user", "Hi.", ("input_image",)),
        ),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, None),
        ({"role": "system", "content": "You are brief."}, None),
        ({"role": "developer", "content": "You are brief."}, None),
        ({"type": "function_call_output", "output": "x"}, None),
        ({"type": "reasoning", "content": [{"type": "text", "text": "Hm."}]}, None),
        ({"role": "user", "content": "  "}, None),
        ("text", None),
    ],
)
def test_only_words_of_user_and_agent_are_words(item: Any, words: Any) -> None:
    assert words_of(item) == words


def test_the_example_remembers(memory: Memory, redis_client: Any) -> None:

    assert asyncio.run(openai_agents_memory.converse(memory, lambda held: work(held, redis_client))) == REMEMBERS
