"""Notes on the real servers: one statement, idempotent by key, behind the same walls as everything else."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from slowwave import AsyncMemory, InvalidMessage, InvalidName, Memory, Settings, StoreUnavailable
from slowwave.coordination.consolidation_queue import ask_for_pass, begin_pass
from slowwave.coordination.keys import ASKED_SECONDS, CONSOLIDATE_QUEUE, PREFIX
from tests.support.capturing import memory_on, rows

pytestmark = pytest.mark.servers

NOTED = """
    SELECT w.content, w.importance, w.marked, w.session, w.type, a.name, k.kind || ':' || k.name, w.outcome
    FROM slowwave.working_memory w JOIN slowwave.agents a ON a.id = w.agent_id
    JOIN slowwave.scopes k ON k.id = w.scope_id ORDER BY w.id
"""


def test_a_note_is_committed_when_remember_returns_and_makes_agent_and_scope(memory: Memory, database_url: str) -> None:
    noted = memory.remember("atlas", "Maya lives in Lisbon.", 0.8, "monday", type="event", marked=True)
    assert noted.added
    assert rows(database_url, NOTED) == [
        ("Maya lives in Lisbon.", 0.8, True, "monday", "event", "atlas", "agent:atlas", None)
    ]
    assert rows(database_url, "SELECT id, expires_at FROM slowwave.working_memory") == [(noted.id, noted.expires_at)]


def test_a_key_makes_a_repetition_harmless_and_another_agent_may_use_it_too(memory: Memory, database_url: str) -> None:
    first = memory.remember("atlas", "Maya lives in Lisbon.", key="note 1")
    again = memory.remember("atlas", "Maya lives in Lisbon, I think.", key="note 1")
    assert (again.added, again.id, again.expires_at) == (False, first.id, first.expires_at)
    assert memory.remember("boreas", "Maya lives in Lisbon.", key="note 1").added
    assert len(rows(database_url, NOTED)) == 2


def test_one_key_from_many_threads_at_once_is_one_note(memory: Memory, database_url: str) -> None:
    ready = threading.Barrier(8)

    def note(_: int) -> bool:
        ready.wait(10)
        return memory.remember("atlas", "Maya lives in Lisbon.", key="note 1").added

    with ThreadPoolExecutor(8) as threads:
        added = list(threads.map(note, range(8)))
    assert sorted(added) == [False] * 7 + [True]
    assert len(rows(database_url, NOTED)) == 1


def test_invariant_i8_a_note_lies_in_the_scope_that_is_named_and_in_its_tenant(
    memory: Memory, database_url: str
) -> None:
    memory.remember("atlas", "The printer is on floor 2.", scope="room:office")
    memory.for_tenant("acme").remember("atlas", "The printer is on floor 3.")
    assert [row[6] for row in rows(database_url, NOTED)] == ["room:office", "agent:atlas"]
    assert memory.stats("atlas").noted == 0
    assert memory.stats("atlas", "room:office").noted == 1
    assert memory.for_tenant("acme").stats("atlas").noted == 1
    assert memory.for_tenant("acme").stats("atlas", "room:office").noted == 0


def test_a_note_may_be_dated_and_lives_as_long_as_it_says(memory: Memory, database_url: str) -> None:
    memory.remember("atlas", "Maya moved.", at="2026-03-03T09:30:00+01:00", ttl_seconds=60)
    query = (
        "SELECT said_at = '2026-03-03T08:30:00Z', expires_at - clock_timestamp() BETWEEN '50 s' AND '60 s'"
        " FROM slowwave.working_memory"
    )
    assert rows(database_url, query) == [(True, True)]


def test_a_note_dated_far_ahead_is_dated_when_it_arrives(memory: Memory, database_url: str) -> None:
    memory.remember("atlas", "Maya moved.", at="2999-03-03T09:30:00+01:00")
    query = "SELECT clock_timestamp() - said_at BETWEEN '0 s' AND '10 s' FROM slowwave.working_memory"
    assert rows(database_url, query) == [(True,)]


@pytest.mark.parametrize("text", ["a\0b", "half \ud800", "'; DROP TABLE slowwave.working_memory; --", "👋 ünïcode"])
def test_hostile_texts_are_just_texts(memory: Memory, database_url: str, text: str) -> None:
    assert memory.remember("atlas", text, session="x'y").added
    kept = text.replace("\0", "\ufffd").replace("\ud800", "\ufffd")
    assert [row[0] for row in rows(database_url, NOTED)] == [kept]


@pytest.mark.parametrize(
    "wrong",
    [{"content": " "}, {"importance": -0.1}, {"ttl_seconds": 0}, {"type": "rumour"}, {"at": "2026-03-03T09:30:00"}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_note_that_breaks_a_rule_writes_nothing(memory: Memory, database_url: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidMessage):
        memory.remember(**{"agent": "atlas", "content": "x"} | wrong)
    with pytest.raises(InvalidName):
        memory.remember("atlas", "x", scope="kitchen")
    assert rows(database_url, "SELECT 1 FROM slowwave.agents") == []


def test_postgres_that_is_away_is_told_and_nothing_is_spooled(tmp_path: Path) -> None:
    settings = Settings(
        database_url="postgresql://slowwave@127.0.0.1:1/slowwave", broker_url="redis://127.0.0.1:1/0", spool=tmp_path
    )
    with Memory(settings) as memory, pytest.raises(StoreUnavailable, match=r"nothing was noted.*call again"):
        memory.remember("atlas", "Maya lives in Lisbon.")
    assert list(tmp_path.iterdir()) == []


def test_a_connection_that_was_cut_is_replaced_and_the_note_stands_once(memory: Memory, database_url: str) -> None:
    memory.remember("atlas", "Maya lives in Lisbon.")
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    memory.remember("atlas", "Maya has a boat.")
    assert [row[0] for row in rows(database_url, NOTED)] == ["Maya lives in Lisbon.", "Maya has a boat."]


def test_many_asks_while_a_pass_is_on_its_way_are_one_message(memory: Memory, redis_client: redis.Redis) -> None:
    asked = [memory.consolidate_now("atlas") for _ in range(3)]
    assert asked == [True, False, False]
    assert memory.consolidate_now("boreas")
    assert memory.consolidate_now("atlas", "room:office")
    assert redis_client.llen(CONSOLIDATE_QUEUE) == 3
    keys = list(redis_client.scan_iter(f"{PREFIX}consolidate:*"))
    assert len(keys) == 3
    assert all(0 < redis_client.ttl(key) <= ASKED_SECONDS for key in keys), "a lost message blocks nothing for ever"


def test_an_ask_that_comes_while_a_pass_runs_sends_the_next_one(redis_client: redis.Redis) -> None:
    assert ask_for_pass(redis_client, "default", "agent", "atlas")
    (key,) = redis_client.scan_iter(f"{PREFIX}consolidate:*")
    held = redis_client.get(key)
    assert isinstance(held, bytes)
    ticket = held.decode()
    begin_pass(redis_client, "default", "agent", "atlas", "working", "somebody else's")
    assert not ask_for_pass(redis_client, "default", "agent", "atlas")
    begin_pass(redis_client, "default", "agent", "atlas", "working", ticket)
    assert ask_for_pass(redis_client, "default", "agent", "atlas")
    assert ask_for_pass(redis_client, "default", "agent", "atlas", "deep"), "another pass is another ask"


def test_the_async_face_notes_asks_and_counts(
    database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    async def talk() -> tuple[bool, bool, int]:
        with memory_on(database_url, valkey_url, tmp_path / "spool") as plain:
            memory = AsyncMemory(plain.store.settings, memory=plain)
            noted = await memory.remember("atlas", "Maya lives in Lisbon.", 0.9, marked=True)
            asked = await memory.consolidate_now("atlas")
            stats = await memory.stats("atlas")
            await memory.close()
            return noted.added, asked, stats.open

    assert asyncio.run(talk()) == (True, True, 1)


def test_a_memory_that_is_closed_keeps_no_connection_to_the_broker(
    database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    with memory_on(database_url, valkey_url, tmp_path / "spool") as memory:
        memory.consolidate_now("atlas")
        connection = str(memory.store.offers.redis().client_id())
        assert connection in {client["id"] for client in redis_client.client_list()}
    deadline = time.monotonic() + 10
    while connection in {client["id"] for client in redis_client.client_list()}:
        assert time.monotonic() < deadline, "the broker still has it"
