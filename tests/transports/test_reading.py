"""What a host reads before it answers: the same over every transport, to the last line."""

import asyncio
from datetime import UTC, datetime

import pytest

from slowwave import AsyncMemory, InvalidName, InvalidQuery, Memory
from tests.transports.backing import Backing
from tests.transports.conftest import Connect


@pytest.fixture
def told(memory: Memory, backing: Backing, agent: str) -> str:
    """An agent that knows two facts, and has heard a third that no flush has read."""
    for place, line in enumerate(("Invoices go to Rita in Porto.", "The printer is on floor two.")):
        at = datetime(2026, 3, 1 + place, 12, tzinfo=UTC)
        memory.turn_completed(agent, "call-1", [{"role": "user", "content": line, "at": at}])
    backing.flush(agent, "call-1")
    memory.turn_completed(agent, "call-2", [{"role": "user", "content": "My flight leaves at noon."}])
    return agent


def test_search_finds_the_memory_with_its_source(memory: Memory, told: str) -> None:
    hit = memory.search(told, "Where do invoices go?")[0]
    assert (hit.kind, hit.content, hit.type, hit.scope) == ("memory", "Invoices go to Rita in Porto.", "fact", None)
    assert hit.sources == (("call-1", 1),)
    assert hit.valid_from == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert hit.relevance is not None
    assert hit.why is not None
    assert 0 < hit.why.coverage <= 1
    assert memory.get(hit.id).content == hit.content


def test_search_keeps_limit_and_budget(memory: Memory, told: str) -> None:
    assert len(memory.search(told, "invoices printer flight", 1)) == 1
    assert memory.search(told, "invoices printer", max_tokens=0) == []
    assert memory.search(told, "zebra") == []
    question = "Rita: which floor has the printer?"
    assert len({hit.content for hit in memory.search(told, question)}) > 1
    assert {hit.content for hit in memory.search(told, question, min_share=0.8)} == {"The printer is on floor two."}
    assert memory.search(f"{told}-other", "invoices") == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"limit": 0}, "limit"),
        ({"order": "size"}, "order"),
        ({"min_relevance": 2}, "min_relevance"),
        ({"min_share": -1}, "min_share"),
    ],
    ids=["limit", "order", "min_relevance", "min_share"],
)
def test_a_search_that_cannot_be_asked(memory: Memory, agent: str, options: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidQuery, match=says):
        memory.search(agent, "invoices", **options)  # type: ignore[arg-type]
    with pytest.raises(InvalidName):
        memory.search(agent, "invoices", scopes=["attic:x"])


def test_a_context_has_what_was_said_elsewhere(memory: Memory, told: str) -> None:
    context = memory.context(told, session="call-9", query="Where do invoices go?")
    text = context.to_text()
    assert "Invoices go to Rita in Porto." in text
    assert "My flight leaves at noon." in text
    assert context.memories[0].content == "Invoices go to Rita in Porto."
    assert [line.content for line in context.elsewhere] == ["My flight leaves at noon."]
    assert [message["role"] for message in context.to_messages()] == ["system", "user"]


def test_every_transport_renders_the_same_context(memory: Memory, backing: Backing, told: str) -> None:
    asked = {"session": "call-9", "query": "Where do invoices go?"}
    with Memory(backing.settings) as direct:
        own, other = memory.context(told, **asked), direct.context(told, **asked)
    assert own.to_text() == other.to_text()
    assert own.to_messages() == other.to_messages()
    assert own.to_json() == other.to_json()


def test_every_transport_finds_the_same_hits(memory: Memory, backing: Backing, told: str) -> None:
    moment = {"score", "relevance", "why"}  # they depend on the time of the search
    memory.turn_completed(told, "call-3", [{"role": "user", "name": "Rita", "content": "The printer has no ink."}])
    with Memory(backing.settings) as direct:
        own, other = ([hit.to_json() for hit in each.search(told, "invoices printer")] for each in (memory, direct))
        (one, *_) = memory.memories(told)
        records = memory.get(one.id), direct.get(one.id)
    assert [hit.keys() for hit in own] == [hit.keys() for hit in other]
    plain = [[{name: hit[name] for name in hit.keys() - moment} for hit in found] for found in (own, other)]
    assert plain[0] == plain[1] != []
    assert records[0] == records[1]


def test_a_context_keeps_its_budget(memory: Memory, told: str) -> None:
    whole = memory.context(told, session="call-9")
    fitted = memory.context(told, session="call-9", max_tokens=60)
    assert fitted.tokens is not None
    assert fitted.tokens <= 60
    assert fitted.left_out > 0
    assert len(fitted.to_text()) < len(whole.to_text())
    assert not memory.context(told, session="call-9", max_tokens=0)


def test_a_host_may_count_tokens_itself(memory: Memory, told: str) -> None:
    counted = memory.context(told, session="call-9", max_tokens=300, count_tokens=len)
    assert len(counted.to_text()) <= 300
    assert len(counted.to_text()) == counted.tokens


def test_a_new_agent_has_an_empty_context(memory: Memory, agent: str) -> None:
    context = memory.context(agent)
    assert not context
    assert context.to_text() == ""


async def _asynchronously(connect: Connect, agent: str, backing: Backing) -> None:
    async with AsyncMemory(memory=connect()) as memory:
        await memory.turn_completed(agent, "call-1", [{"role": "user", "content": "Invoices go to Rita."}])
        backing.flush(agent, "call-1")
        page = await memory.memories(agent)
        (one,) = page
        assert await memory.get(one.id) == one
        assert (await memory.explain(one.id)).memory == one
        assert [hit.id for hit in await memory.search(agent, "invoices") if hit.kind == "memory"] == [one.id]
        assert "Rita" in (await memory.context(agent, session="call-2")).to_text()
        assert (await memory.correct(one.id, "Invoices go to Ruth.")).memory.content == "Invoices go to Ruth."
        preview = await memory.forget(agent=agent)
        assert (await memory.forget(agent=agent, confirm=preview.confirm)).receipt > 0
        assert await memory.flush()


def test_the_same_with_an_event_loop(connect: Connect, agent: str, backing: Backing) -> None:
    asyncio.run(_asynchronously(connect, agent, backing))
