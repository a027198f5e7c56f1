"""Graphs of LangGraph with our node and store: each turn once, the context in no state, walls, and never a crash."""

import asyncio
import json
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.base import InvalidNamespaceError
from redis import Redis

from examples import langgraph_memory
from examples.story import REMEMBERS
from slowwave import InvalidName, Memory
from slowwave.capture import Entry
from slowwave.errors import StoreUnavailable
from slowwave.integrations.langgraph import SlowwaveTurns
from slowwave.integrations.langgraph_store import SlowwaveStore
from slowwave.messages import MAX_CONTENT_CHARACTERS
from slowwave.spooled_notes import entry_of
from slowwave.working import Remember
from slowwave_server.models.engine import make_engine
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.forget.target import Target
from tests.support.capturing import broken_sessions
from tests.support.framework_memories import contents, cycle, is_spooled, of_tools, recorded, unreachable, work

pytestmark = pytest.mark.servers

OWN = ("agent", "atlas")


@pytest.fixture
def memory(tenant_memory: Memory) -> Memory:
    return tenant_memory


class Talk:
    """A graph that answers with these texts, and what its model was given."""

    def __init__(
        self, turns: SlowwaveTurns, *answers: str | Exception, checkpoints: InMemorySaver | None = None
    ) -> None:
        self.seen: list[list[AnyMessage]] = []
        self._turns = turns
        self._answers = list(answers)
        graph = StateGraph(MessagesState)
        graph.add_node("answer", self._answer)
        graph.add_node("record", turns.node())
        graph.add_edge(START, "answer")
        graph.add_edge("answer", "record")
        graph.add_edge("record", END)
        self.graph: Any = graph.compile(checkpointer=checkpoints or InMemorySaver())

    async def _answer(self, state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        given = [*await self._turns.acontext(state["messages"], config), *state["messages"]]
        self.seen.append(given)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return {"messages": [await FakeMessagesListChatModel(responses=[AIMessage(answer)]).ainvoke(given)]}

    def ask(self, thread: str | None, *messages: Any) -> Any:
        config: Any = {"configurable": {"thread_id": thread}}
        given = {"messages": [("user", message) if isinstance(message, str) else message for message in messages]}
        return asyncio.run(self.graph.ainvoke(given if messages else None, config))


def test_a_turn_is_recorded_once_and_the_history_of_the_thread_is_no_news(memory: Memory) -> None:
    talk = Talk(SlowwaveTurns(memory, "atlas"), "Nice.", "Hello again.")
    talk.ask("monday", SystemMessage("Be brief."), HumanMessage("I adopted a beagle.", name="Maya"))
    state = talk.ask("monday", "Hello.")
    assert recorded(memory, "e.content, e.name, e.turn") == [
        ("I adopted a beagle.", "Maya", 1),
        ("Nice.", None, 1),
        ("Hello.", None, 2),
        ("Hello again.", None, 2),
    ]
    # Another process runs the node again on all of it, and so does a host without a running loop.
    config = RunnableConfig(configurable={"thread_id": "monday"})
    node = SlowwaveTurns(memory, "atlas").node()
    assert asyncio.run(node.ainvoke(state, config)) == {}
    assert SlowwaveTurns(memory, "atlas").node().invoke(state, config) == {}
    assert len(contents(memory)) == 4
    assert broken_sessions(memory.store.settings.database_url) == []


def test_another_thread_reads_it_and_mistake_24_the_context_is_nobodys_words(memory: Memory) -> None:
    Talk(SlowwaveTurns(memory, "atlas"), "Nice.").ask("monday", "I adopted a beagle called Rufus.")
    turns = SlowwaveTurns(memory, "atlas")
    talk = Talk(turns, "Rufus.")
    state = talk.ask("tuesday", "What is my beagle called?")
    system, known, question = talk.seen[0]
    assert "Rufus" not in system.text
    assert "Rufus" in known.text
    assert question.text == "What is my beagle called?"
    assert "```" not in str(state)
    # A host that keeps the context in its state all the same.
    config = RunnableConfig(configurable={"thread_id": "wednesday"})
    turns.record({"messages": [*turns.context([question], config), question]}, config)
    assert contents(memory, "tuesday") == ["What is my beagle called?", "Rufus."]
    assert contents(memory, "wednesday") == ["What is my beagle called?"]


def test_a_turn_that_fails_and_is_resumed_or_asked_again_is_recorded_once(memory: Memory) -> None:
    talk = Talk(SlowwaveTurns(memory, "atlas"), RuntimeError("no answer"), "Now.", RuntimeError("no answer"), "Yes.")
    with pytest.raises(RuntimeError):
        talk.ask("monday", "I live in Porto.")
    talk.ask("monday")
    with pytest.raises(RuntimeError):
        talk.ask("monday", "Is it nice?")
    talk.ask("monday", "Is it nice?")
    assert contents(memory) == ["I live in Porto.", "Now.", "Is it nice?", "Yes."]


def test_tools_are_evidence_and_summaries_are_nobodys_words(memory: Memory) -> None:
    calls = [{"name": "look_up", "args": {}, "id": "1"}]
    messages = [
        HumanMessage("Here is a summary.", additional_kwargs={"lc_source": "summarization"}),
        HumanMessage([{"type": "text", "text": "Look at this."}, {"type": "image_url", "image_url": "x"}]),
        AIMessage("", tool_calls=calls),
        ToolMessage("The result of a tool.", tool_call_id="1"),
        AIMessage("Let me think.", tool_calls=calls),
        AIMessage("Done."),
    ]
    config = RunnableConfig(configurable={"thread_id": "monday"})
    for _ in range(2):  # without ids they are known by their place and their words
        SlowwaveTurns(memory, "atlas").record({"messages": messages}, config)
    assert contents(memory) == ["Look at this.", "Let me think.", "Done."]
    assert of_tools(memory) == [
        ("tool look_up", "look_up()", 1),
        ("tool look_up", "The result of a tool.", 1),
        ("tool look_up", "look_up()", 1),
    ]


def test_images_and_files_are_recorded_by_their_words_or_counted(memory: Memory) -> None:
    parts: list[Any] = [
        {"type": "text", "text": "Look at these."},
        {"type": "image", "url": "https://x.example/1", "extras": {"alt_text": "a red bike"}},
        {"type": "file", "base64": "eA==", "mime_type": "application/pdf", "filename": "invoice-12.pdf"},
        {"type": "image_url", "image_url": {"url": "https://x.example/2"}},
        {"type": "audio", "base64": "eA==", "mime_type": "audio/wav"},
    ]
    answer = AIMessage([{"type": "text", "text": "Nice."}, {"type": "tool_use", "id": "1", "name": "f", "input": {}}])
    config = RunnableConfig(configurable={"thread_id": "monday"})
    SlowwaveTurns(memory, "atlas").record({"messages": [HumanMessage(parts), answer]}, config)
    assert recorded(memory, "e.content, e.metadata -> 'left_out'") == [
        ("Look at these.\n[image: a red bike]\n[file: invoice-12.pdf]", {"image_url": 1, "audio": 1}),
        ("Nice.", None),
    ]


def test_calls_and_results_of_a_graph_are_recorded_once(memory: Memory) -> None:
    bad = {"name": "book", "args": '{"seat": ', "id": "2", "error": "no JSON", "type": "invalid_tool_call"}
    turns = SlowwaveTurns(memory, "atlas")
    config = RunnableConfig(configurable={"thread_id": "monday"})
    messages: list[AnyMessage] = [HumanMessage("Book 4A.", id="a")]
    for message in (
        AIMessage("", tool_calls=[{"name": "book", "args": {"seat": "4A"}, "id": "1"}], id="b"),
        ToolMessage("4A is taken", tool_call_id="1", status="error", id="c"),
        AIMessage("Once more.", invalid_tool_calls=[bad], id="d"),
        AIMessage("Sorry.", id="e"),
    ):
        messages.append(message)
        turns.record({"messages": messages}, config)
    assert contents(memory) == ["Book 4A.", "Once more.", "Sorry."]
    assert of_tools(memory) == [
        ("tool book", 'book(seat="4A")', 1),
        ("tool book", "4A is taken", 1),
        ("tool book", 'book({"seat": )', 1),
    ]
    assert {turn for (turn,) in recorded(memory, "e.turn")} == {1}
    assert recorded(memory, "e.metadata ->> 'error'")[2] == ("true",)
    assert broken_sessions(memory.store.settings.database_url) == []


def test_i8_a_room_is_read_and_written_only_where_it_is_named(memory: Memory) -> None:
    Talk(SlowwaveTurns(memory, "atlas", scope="room:office"), "Noted.").ask("monday", "The door code is on the beagle.")
    seen = []
    for thread, agent, scopes in (("a", "atlas", []), ("b", "nova", []), ("c", "nova", ["room:office"])):
        talk = Talk(SlowwaveTurns(memory, agent, scopes=scopes), "?")
        talk.ask(thread, "Where is the beagle?")
        seen += talk.seen
    assert ["door code" in str(given) for given in seen] == [False, False, True]
    assert recorded(memory, "k.kind, k.name", "monday") == [("room", "office")] * 2


def test_while_postgres_is_away_the_graph_answers_and_the_turn_waits_in_the_spool(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with unreachable(tmp_path) as memory:
        talk = Talk(SlowwaveTurns(memory, "atlas"), "Still here.")
        assert talk.ask("monday", "My garden is blue.")["messages"][-1].text == "Still here."
        assert is_spooled(memory)
        store = SlowwaveStore(memory, "atlas")
        store.put(OWN, "garden", {"content": "The garden is blue."})
        assert store.search(OWN, query="garden") == []
        assert store.get(OWN, "garden") is None
    assert "a note was lost" not in caplog.text
    assert "blue" not in caplog.text


def test_i1_a_put_waits_in_the_spool_until_postgres_is_back(memory: Memory, tmp_path: Path) -> None:
    namespaces: dict[tuple[str, ...], str | None] = {OWN: None, ("office",): "room:office"}
    with unreachable(tmp_path) as away:
        for name in namespaces:
            SlowwaveStore(away, "atlas", namespaces=namespaces).put(
                name, "home", {"content": f"Jonas is in {name[0]}."}
            )
    lines = [line for path in (tmp_path / "spool").glob("*.jsonl") for line in path.read_text().splitlines()]
    waiting = [Entry(**json.loads(line) | {"tenant": memory.tenant}) for line in lines]
    # Delivered twice, as after a crash between the commit and the end of the segment.
    for entry in waiting * 2:
        memory.store.set_aside(entry, StoreUnavailable("away"))
    assert memory.flush()
    assert [memory.stats("atlas", scope).noted for scope in namespaces.values()] == [1, 1]
    store = SlowwaveStore(memory, "atlas", namespaces=namespaces)
    for name in namespaces:
        item = store.get(name, "home")
        assert item is not None
        assert item.value["content"] == f"Jonas is in {name[0]}."
    assert contents(memory) == [], "a note is no event"


def test_i10_a_put_that_waits_is_dropped_where_its_agent_was_forgotten_meanwhile(
    memory: Memory, redis_client: Redis
) -> None:
    asked = Remember(agent="atlas", content="Jonas lives in Porto.", marked=True)
    entry = entry_of(memory.tenant, asked, "langgraph:home:1")
    entry.stamp(datetime.now(UTC).isoformat())
    memory.remember("atlas", "Jonas has a whippet.")
    settings = memory.store.settings
    engine = make_engine(settings.database_url)
    forgetter = Forgetter(engine, redis_client, settings, lambda: datetime.now(UTC))
    forgetter.forget(Target.of_agent(memory.tenant, "atlas"), by="test")
    engine.dispose()
    memory.store.set_aside(entry, StoreUnavailable("away"))
    assert memory.flush()
    assert memory.stats("atlas").noted == 0


def test_whatever_a_value_holds_it_is_noted(memory: Memory) -> None:
    store = SlowwaveStore(memory, "atlas")
    store.put(OWN, "sure", {"content": "Jonas lives in Porto.", "importance": True})
    store.put(OWN, "long", {"content": "x" * (MAX_CONTENT_CHARACTERS + 1), "type": ["fact"]})
    assert memory.stats("atlas").noted == 2


def test_a_graph_without_a_thread_has_no_memory_and_goes_on(memory: Memory) -> None:
    turns = SlowwaveTurns(memory, "atlas")
    assert turns.record({"messages": [HumanMessage("I live in Porto.")]}, {}) == {}
    assert turns.context([HumanMessage("Where do I live?")], RunnableConfig(configurable={})) == []
    assert contents(memory) == []


def test_a_put_is_read_at_once_and_found_after_a_cycle(memory: Memory) -> None:
    store = SlowwaveStore(memory, "atlas")
    for _ in range(2):
        store.put(OWN, "home", {"content": "Jonas lives in Porto.", "importance": 0.9})
    store.put(OWN, "pet", {"text": "Jonas has a whippet.", "type": "preference"})
    store.put(OWN, "raw", {"seats": ["window"]})
    assert memory.stats("atlas").noted == 3, "the same put twice is one note"
    values = [store.get(OWN, key) for key in ("home", "pet", "raw", "nothing")]
    assert [item and item.value["content"] for item in values] == [
        "Jonas lives in Porto.",
        "Jonas has a whippet.",
        '{"seats": ["window"]}',
        None,
    ]
    cycle(memory, "atlas")
    (found,) = store.search(OWN, query="whippet")
    assert (found.value["content"], found.value["kind"], found.namespace) == ("Jonas has a whippet.", "memory", OWN)
    by_id = store.get(OWN, found.key)
    assert by_id is not None
    assert by_id.value["content"] == "Jonas has a whippet."
    assert {item.value["content"] for item in store.search(OWN)} >= {"Jonas lives in Porto.", "Jonas has a whippet."}


def test_what_was_put_last_is_what_is_read(memory: Memory) -> None:
    store = SlowwaveStore(memory, "atlas")
    for home in ("Porto", "Braga", "Porto"):
        store.put(OWN, "home", {"content": f"Jonas lives in {home}."})
        item = store.get(OWN, "home")
        assert item is not None
        assert item.value["content"] == f"Jonas lives in {home}."
    store.put(OWN, "door", {"content": "The password: hunter2secret1"})
    item = store.get(OWN, "door")
    assert item is not None
    assert "hunter2" not in item.value["content"]


def test_i8_a_namespace_is_one_scope_and_others_hold_nothing(memory: Memory) -> None:
    names: dict[tuple[str, ...], str | None] = {("mine",): None, ("shared", "office"): "room:office"}
    store, other = SlowwaveStore(memory, "atlas", namespaces=names), SlowwaveStore(memory, "nova", namespaces=names)
    store.put(("mine",), "a", {"content": "The whippet of Jonas is shy."})
    store.put(("shared", "office"), "b", {"content": "The whippet of the office is loud."})
    cycle(memory, "atlas")
    cycle(memory, "atlas", "room:office")

    def found(where: SlowwaveStore, prefix: tuple[str, ...]) -> list[str]:
        return sorted(item.value["content"].split()[-1] for item in where.search(prefix, query="whippet"))

    assert found(store, ()) == ["loud.", "shy."]
    assert found(store, ("mine",)) == ["shy."]
    assert found(store, ("shared",)) == ["loud."]
    assert found(store, ("elsewhere",)) == []
    assert found(other, ()) == ["loud."]
    assert found(SlowwaveStore(memory, "nova"), ()) == []
    assert found(SlowwaveStore(memory.for_tenant(uuid.uuid4().hex), "atlas", namespaces=names), ()) == []
    (shy,) = store.search(("mine",), query="whippet")
    (loud,) = store.search(("shared",), query="whippet")
    assert store.get(("shared", "office"), shy.key) is None
    assert other.get(("mine",), shy.key) is None
    assert other.get(("mine",), "a") is None
    assert other.get(("shared", "office"), loud.key) is not None
    assert store.get(("elsewhere",), "a") is None
    with pytest.raises(InvalidNamespaceError, match="no namespace"):
        store.put(("elsewhere",), "c", {"content": "The whippet is away."})


def test_filters_pages_and_namespaces_mean_what_langgraph_says(memory: Memory) -> None:
    names: dict[tuple[str, ...], str | None] = {("mine",): None, ("shared", "office"): "room:office"}
    store = SlowwaveStore(memory, "atlas", namespaces=names)
    for number, kind in enumerate(("fact", "preference", "preference")):
        store.put(("mine",), str(number), {"content": f"Jonas has whippet number {number}.", "type": kind})
    cycle(memory, "atlas")

    def count(**options: Any) -> int:
        return len(asyncio.run(store.asearch(("mine",), query="whippet", **options)))

    assert count() == 3
    assert count(filter={"type": "preference"}) == 2
    assert count(filter={"type": {"$ne": "preference"}, "kind": "memory"}) == 1
    assert count(filter={"type": {"$gt": 3}}) == 0
    assert count(limit=2) == 2
    assert count(limit=2, offset=2) == 1
    with pytest.raises(ValueError, match="operators"):
        count(filter={"type": {"$like": "x"}})
    assert store.list_namespaces() == [("mine",), ("shared", "office")]
    assert store.list_namespaces(prefix=("shared",), max_depth=1) == [("shared",)]
    assert store.list_namespaces(suffix=("*",), limit=1, offset=1) == [("shared", "office")]


def test_a_delete_is_refused_before_anything_is_done(memory: Memory) -> None:
    store = SlowwaveStore(memory, "atlas")
    store.put(OWN, "home", {"content": "Jonas lives in Porto."})
    with pytest.raises(NotImplementedError, match="forget"):
        store.delete(OWN, "home")
    assert store.get(OWN, "home") is not None
    with pytest.raises(InvalidName):
        SlowwaveStore(memory, "atlas", namespaces={("office",): "office"})


def test_i10_nothing_is_read_of_an_agent_that_was_forgotten(memory: Memory) -> None:
    store = SlowwaveStore(memory, "atlas")
    store.put(OWN, "home", {"content": "Jonas lives in Porto."})
    engine = make_engine(memory.store.settings.database_url)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE slowwave.agents SET deleted_at = now() WHERE tenant = %s", (memory.tenant,))
    engine.dispose()
    assert store.get(OWN, "home") is None


def test_the_example_remembers(memory: Memory, redis_client: Redis) -> None:
    answer = asyncio.run(langgraph_memory.converse(memory, lambda held: work(held, redis_client)))
    assert answer == REMEMBERS
