"""Following what happens to memories: the same over every transport."""

import asyncio
import time

import pytest

from slowwave import AsyncMemory, CursorExpired, InvalidName, InvalidQuery, Memory
from slowwave.changes import BEGINNING
from tests.transports.backing import Backing
from tests.transports.conftest import Connect


def learn(memory: Memory, backing: Backing, agent: str, line: str) -> str:
    memory.turn_completed(agent, "call-1", [{"role": "user", "content": line}])
    backing.flush(agent, "call-1")
    return memory.memories(agent, limit=1).items[0].id


def test_changes_come_in_order_and_the_wait_ends(memory: Memory, backing: Backing, agent: str) -> None:
    one = learn(memory, backing, agent, "Invoices go to Rita.")
    memory.archive(one, "a joke")
    told = list(memory.changes(agent, after=BEGINNING, timeout=0.5))
    assert [(change.type, change.memory.id) for change in told] == [("created", one), ("archived", one)]
    assert told[0].memory.agent == agent
    assert told[1].memory.status == "archived"
    rest = list(memory.changes(agent, after=told[0].id, timeout=0.5))
    assert [change.id for change in rest] == [told[1].id]


def test_a_change_arrives_while_somebody_waits(memory: Memory, backing: Backing, agent: str) -> None:
    first = learn(memory, backing, agent, "Invoices go to Rita.")
    following = memory.changes(agent, after=BEGINNING, timeout=30)
    assert next(following).memory.id == first
    second = learn(memory, backing, agent, "Lunch is at noon.")
    assert next(following).memory.id == second
    following.close()


def test_changes_are_of_the_scopes_that_are_followed(memory: Memory, backing: Backing, agent: str) -> None:
    learn(memory, backing, agent, "Invoices go to Rita.")
    memory.turn_completed(agent, "in-room", [{"role": "user", "content": "The room is blue."}], scope=f"room:{agent}")
    backing.flush(agent, "in-room")
    told = list(memory.changes(scopes=[f"room:{agent}"], after=BEGINNING, timeout=0.5))
    assert [change.memory.content for change in told] == ["The room is blue."]
    both = list(memory.changes(f"{agent[:-1]}*", scopes=[f"room:{agent}"], after=BEGINNING, timeout=0.5))
    assert len(both) == 2


def test_a_cursor_that_cannot_be_used(memory: Memory, agent: str) -> None:
    with pytest.raises(InvalidQuery, match="cursor"):
        next(memory.changes(agent, after="yesterday", timeout=0.5))
    with pytest.raises(CursorExpired):
        next(memory.changes(agent, after="18446744073709551000-1", timeout=0.5))
    with pytest.raises(InvalidName):
        next(memory.changes(scopes=["attic:x"], timeout=0.5))


async def _follow(connect: Connect, backing: Backing, agent: str) -> None:
    async with AsyncMemory(memory=connect()) as memory:
        one = await asyncio.to_thread(learn, memory.memory, backing, agent, "Invoices go to Rita.")
        following = memory.changes(agent, after=BEGINNING)
        async for change in following:
            assert change.memory.id == one
            break
        await following.aclose()


def test_an_event_loop_follows_and_stops(connect: Connect, backing: Backing, agent: str) -> None:
    begun = time.monotonic()
    asyncio.run(_follow(connect, backing, agent))
    assert time.monotonic() - begun < 10, "nobody waits for a stream that was left"
