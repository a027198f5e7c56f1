"""The hooks on the real servers: what a caller is told, what is committed then, and who is woken."""

import asyncio
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from slowwave import AsyncMemory, InvalidMessage, InvalidName, Memory, ScopeConflict, SlowwaveError, StoreUnavailable
from slowwave.coordination.keys import HIGH_QUEUE, NORMAL_QUEUE
from slowwave.messages import Message
from slowwave.spool import spooled
from tests.support.capturing import TURN, asked_for, broken_sessions, contents, memory_on, rows, settings_of

pytestmark = pytest.mark.servers


@pytest.fixture
def background(database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Memory]:
    with memory_on(database_url, valkey_url, tmp_path / "spool", "background") as memory:
        yield memory


def test_mistake_31_a_hook_returns_after_the_commit(memory: Memory, database_url: str) -> None:
    receipt = memory.turn_completed("maya", "s", TURN)
    assert contents(database_url, "s") == [message["content"] for message in TURN]
    assert receipt == (2, 0, 0, 2, False, None, "postgres")


def test_a_call_with_a_key_may_be_repeated(memory: Memory, database_url: str) -> None:
    memory.turn_completed("maya", "s", TURN, key="turn 1")
    again = memory.turn_completed("maya", "s", [Message(**message) for message in TURN], key="turn 1")
    assert (again.added, again.repeated, again.last_seq) == (0, 2, 2)
    assert len(contents(database_url, "s")) == 2


def test_calls_without_a_key_are_never_taken_for_repetitions(memory: Memory, database_url: str) -> None:
    for _ in range(3):
        assert memory.turn_completed("maya", "s", TURN).added == 2
    assert len(contents(database_url, "s")) == 6


def test_too_many_turns_since_the_watermark_wake_a_worker(memory: Memory, redis_client: redis.Redis) -> None:
    receipts = [memory.turn_completed("maya", "s", TURN) for _ in range(6)]
    assert [receipt.due for receipt in receipts] == [False] * 5 + [True]
    assert receipts[-1].reason == "turns"
    assert memory.flush()
    assert redis_client.llen(NORMAL_QUEUE) == 1


def test_the_end_of_a_conversation_wakes_a_worker(memory: Memory, redis_client: redis.Redis) -> None:
    for session in ("idle", "compacted", "reset"):
        memory.turn_completed("maya", session, TURN)
    assert memory.session_idle("maya", "idle").reason == "idle"
    assert memory.session_compacted("maya", "compacted").reason == "compaction"
    assert memory.session_reset("maya", "reset").reason == "reset"
    assert memory.flush()
    assert asked_for(redis_client, NORMAL_QUEUE) == (1, 2), "one at a time, and the others in their agent's line"
    assert memory.session_idle("maya", "never heard of").due is False


def test_a_prompt_boosts_the_other_sessions_of_its_agent(memory: Memory, redis_client: redis.Redis) -> None:
    for session in ("morning", "noon", "here"):
        memory.turn_completed("maya", session, TURN)
    memory.turn_completed("jonas", "elsewhere", TURN)
    memory.for_tenant("another").turn_completed("maya", "of another tenant", TURN)
    assert sorted(memory.prompt_arrived("maya", "here")) == ["morning", "noon"]
    assert memory.flush()
    assert asked_for(redis_client, HIGH_QUEUE) == (1, 1)


def test_without_auto_flush_nothing_is_offered(
    database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    with memory_on(database_url, valkey_url, tmp_path, enabled=False, turn_threshold=0) as memory:
        assert memory.turn_completed("maya", "s", TURN).due
        assert memory.prompt_arrived("maya", "other") == ()
    assert redis_client.keys() == []


def test_a_broker_that_is_gone_costs_no_event_and_no_exception(database_url: str, tmp_path: Path) -> None:
    with memory_on(database_url, "redis://127.0.0.1:1/0", tmp_path, turn_threshold=0) as memory:
        assert memory.turn_completed("maya", "s", TURN).due
        assert memory.turn_completed("maya", "s", TURN).last_seq == 4
        assert memory.prompt_arrived("maya", "other") == ("s",)


def test_task_events_carry_what_happened(memory: Memory, database_url: str) -> None:
    memory.turn_completed("maya", "s", TURN)
    memory.task_event("maya", "s", "run_finished", "The report is ready.", at="2026-03-01T10:00:00+01:00", key="run 7")
    assert memory.task_event("maya", "s", "run_finished", "The report is ready.", key="run 7").repeated == 1
    query = "SELECT kind, turn, metadata->>'event', key, happened_at = '2026-03-01T09:00Z' FROM slowwave.events"
    assert rows(database_url, f"{query} WHERE kind = 'task'") == [("task", 1, "run_finished", "run 7:0", True)]
    unknown: Any = "run_started"
    with pytest.raises(InvalidMessage, match="event must be one of run_queued"):
        memory.task_event("maya", "s", unknown, "x")


def test_task_event_records_the_id_of_its_run(memory: Memory, database_url: str) -> None:
    memory.task_event("maya", "s", "run_queued", "Nightly import", run="import-7")
    memory.task_event("maya", "s", "run_failed", "No room on the disk.")
    query = "SELECT metadata->>'event', metadata->>'run' FROM slowwave.events ORDER BY seq"
    assert rows(database_url, query) == [("run_queued", "import-7"), ("run_failed", None)]
    wrong: list[Any] = ["", "x" * 201, 7]
    for run in wrong:
        with pytest.raises(InvalidMessage, match="run must be the id of a run"):
            memory.task_event("maya", "s", "run_queued", "x", run=run)


def test_scopes_rooms_and_threads_are_kept(memory: Memory, database_url: str) -> None:
    memory.turn_completed("maya", "s", TURN, scope="room:kitchen", room_id="r-1", thread_id="t-1")
    query = "SELECT kind, k.name, room_id, thread_id FROM slowwave.sessions s JOIN slowwave.scopes k ON k.id = scope_id"
    assert rows(database_url, query) == [("room", "kitchen", "r-1", "t-1")]
    with pytest.raises(ScopeConflict, match="maya/s: the session writes to scope room:kitchen already"):
        memory.turn_completed("maya", "s", TURN, scope="team:kitchen")
    for scope in ("kitchen", "agent:maya", "room:"):
        with pytest.raises((InvalidMessage, InvalidName)):
            memory.turn_completed("maya", "s", TURN, scope=scope)
    assert len(contents(database_url, "s")) == 2


HOSTILE = [
    "../../etc",
    "a'; DROP TABLE slowwave.events; --",
    '{"x": "\\u0000"}',
    "%s $1 {}",
    "\N{SNOWMAN} \u202e",
    "x" * 200,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_and_texts_are_just_names_and_texts(memory: Memory, database_url: str, name: str) -> None:
    memory.turn_completed(name, name, [{"role": "user", "content": f"{name}\0\ud800", "name": name}], key=name)
    assert contents(database_url, name) == [f"{name}\ufffd\ufffd"]
    assert rows(database_url, "SELECT a.name, e.name FROM slowwave.agents a, slowwave.events e") == [(name, name)]


def test_nothing_but_system_messages_is_no_turn(memory: Memory, database_url: str) -> None:
    receipt = memory.turn_completed("maya", "s", [{"role": "system", "content": "Be brief."}])
    assert (receipt.added, receipt.ignored, receipt.last_seq) == (0, 1, None)
    assert rows(database_url, "SELECT count(*) FROM slowwave.agents") == [(0,)]


def test_threads_share_a_memory(memory: Memory, database_url: str) -> None:
    start = threading.Barrier(12)

    def write(number: int) -> None:
        start.wait()
        for turn in range(10):
            memory.turn_completed("maya", f"s{number % 3}", TURN, key=f"{number} {turn}")

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(write, range(12)))
    assert rows(database_url, "SELECT DISTINCT last_seq FROM slowwave.sessions") == [(80,)]
    assert broken_sessions(database_url) == []


def test_a_connection_that_was_cut_is_replaced_within_the_call(memory: Memory, database_url: str) -> None:
    memory.turn_completed("maya", "s", TURN)
    rows(
        database_url,
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        " AND datname = current_database()",
    )
    receipt = memory.turn_completed("maya", "s", TURN)
    assert (receipt.stored, receipt.last_seq) == ("postgres", 4)


def test_a_read_over_a_connection_that_was_cut_is_made_on_a_new_one(memory: Memory, database_url: str) -> None:
    memory.turn_completed("maya", "monday", [{"role": "user", "content": "I play the cello."}])
    rows(
        database_url,
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    assert [hit.content for hit in memory.search("maya", "cello")] == ["I play the cello."]


def test_a_read_from_a_database_that_was_never_migrated_says_what_to_run(
    postgres_url: str, valkey_url: str, tmp_path: Path
) -> None:
    with (
        memory_on(postgres_url, valkey_url, tmp_path) as reader,
        pytest.raises(StoreUnavailable, match="run `slowwave admin migrate`"),
    ):
        reader.search("maya", "cello")


def test_background_calls_arrive_in_order_with_the_time_at_which_they_were_made(
    background: Memory, database_url: str
) -> None:
    for number in range(200):
        message = {"role": "user", "content": str(number)}
        assert background.turn_completed("maya", f"s{number % 2}", [message]).stored == "queued"
    assert background.flush(30)
    assert contents(database_url, "s0") == [str(number) for number in range(0, 200, 2)]
    assert broken_sessions(database_url) == []
    assert rows(database_url, "SELECT count(*) FROM slowwave.events WHERE happened_at > recorded_at") == [(0,)]


def test_background_flushes_are_offered_after_the_commit(background: Memory, redis_client: redis.Redis) -> None:
    for _ in range(6):
        background.turn_completed("maya", "s", TURN)
    assert background.flush(30)
    assert redis_client.llen(NORMAL_QUEUE) == 1


def test_one_refused_scope_in_the_background_takes_no_other_event_with_it(
    background: Memory, database_url: str, tmp_path: Path
) -> None:
    background.turn_completed("maya", "s", TURN, scope="room:kitchen")
    background.turn_completed("maya", "s", TURN, scope="room:cellar")
    background.turn_completed("maya", "s", TURN)
    background.turn_completed("maya", "other", TURN)
    assert background.flush(30)
    assert (len(contents(database_url, "s")), len(contents(database_url, "other"))) == (4, 2)
    assert background.status().rejected_files == 1


def test_what_is_queued_is_committed_at_the_end_of_the_program(
    database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    code = (
        "import sys; from slowwave import Memory, Settings\n"
        "settings = Settings(database_url=sys.argv[1], broker_url=sys.argv[2], spool=sys.argv[3])\n"
        "memory = Memory(settings, mode='background')\n"
        "for n in range(50): memory.turn_completed('maya', 's', [{'role': 'user', 'content': str(n)}])\n"
    )
    assert run(code, database_url, valkey_url, str(tmp_path)) == ""
    assert contents(database_url, "s") == [str(number) for number in range(50)]
    assert redis_client.dbsize(), "its flush is asked for"


def run(code: str, *arguments: str) -> str:
    """What the program says on stderr."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, check=True, timeout=60, stderr=subprocess.PIPE, text=True).stderr


def child_writes(memory: Memory, number: int) -> None:
    for turn in range(10):
        memory.turn_completed("maya", "s", [{"role": "user", "content": f"child {number} {turn}"}])
    memory.close()
    os._exit(0)


@pytest.mark.parametrize("mode", ["durable", "background"])
def test_a_forked_child_writes_its_own_events_and_never_its_parents(
    database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path, mode: str
) -> None:
    with memory_on(database_url, valkey_url, tmp_path, "background" if mode == "background" else "durable") as memory:
        for number in range(20):
            memory.turn_completed("maya", "s", [{"role": "user", "content": f"parent {number}"}])
        fork = multiprocessing.get_context("fork")
        children = [fork.Process(target=child_writes, args=(memory, number)) for number in range(3)]
        for child in children:
            child.start()
        for child in children:
            child.join(60)
            assert child.exitcode == 0
        memory.turn_completed("maya", "s", [{"role": "user", "content": "parent 20"}])
        assert memory.flush(30)
    texts = contents(database_url, "s")
    assert [text for text in texts if text.startswith("parent")] == [f"parent {number}" for number in range(21)]
    for number in range(3):
        mine = [text for text in texts if text.startswith(f"child {number}")]
        assert mine == [f"child {number} {turn}" for turn in range(10)]
    assert broken_sessions(database_url) == []


def test_status_counts_what_waits(memory: Memory, database_url: str) -> None:
    for session in ("a", "b"):
        memory.turn_completed("maya", session, TURN)
    memory.for_tenant("another").turn_completed("maya", "c", TURN)
    memory.session_idle("maya", "a")
    assert memory.flush()
    status = memory.status()
    assert (status.dirty_sessions, status.queues[NORMAL_QUEUE], status.spool_files) == (2, 1, 0)
    assert status.oldest_dirty_seconds is not None
    assert 0 <= status.oldest_dirty_seconds < 120


def test_a_closed_memory_says_so(memory: Memory) -> None:
    memory.close()
    with pytest.raises(SlowwaveError, match="closed"):
        memory.turn_completed("maya", "s", TURN)


def test_a_database_that_was_never_migrated_loses_nothing(postgres_url: str, valkey_url: str, tmp_path: Path) -> None:
    """Before the migration events wait in the spool: an operator's oversight loses nothing."""
    with memory_on(postgres_url, valkey_url, tmp_path) as memory:
        assert memory.turn_completed("maya", "s", TURN).stored == "spool"
    assert spooled(tmp_path).files == 1


def test_the_async_face_does_what_the_plain_one_does(
    database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    async def talk() -> None:
        async with AsyncMemory(settings_of(database_url, valkey_url, tmp_path)) as memory:
            receipts = await asyncio.gather(*(memory.turn_completed("maya", f"s{n}", TURN, key="k") for n in range(5)))
            assert [receipt.added for receipt in receipts] == [2] * 5
            assert (await memory.turn_completed("maya", "s0", TURN, key="k")).repeated == 2
            assert (await memory.task_event("maya", "s0", "run_failed", "No answer.")).last_seq == 3
            assert (await memory.session_idle("maya", "s0")).reason == "idle"
            assert (await memory.session_compacted("maya", "s1")).reason == "compaction"
            assert (await memory.session_reset("maya", "s2")).reason == "reset"
            assert len(await memory.prompt_arrived("maya", "s0")) == 4
            assert (await memory.status()).dirty_sessions == 5
            assert await memory.flush(5)
            with pytest.raises(InvalidName):
                await memory.turn_completed("", "s", TURN)

    asyncio.run(talk())
    assert broken_sessions(database_url) == []


def test_both_faces_have_the_same_methods() -> None:
    def public(face: type) -> set[str]:
        return {name for name in dir(face) if not name.startswith("_") and callable(getattr(face, name))}

    assert public(Memory) - public(AsyncMemory) == {"for_tenant"}
    assert public(AsyncMemory) <= public(Memory)


def test_importing_the_client_brings_neither_celery_nor_redis() -> None:
    run(
        "import sys, slowwave\n"
        "heavy = {'celery', 'kombu', 'redis', 'sqlalchemy', 'fakeredis'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )


def test_a_statement_that_waits_for_a_lock_ends_in_time(memory: Memory, database_url: str) -> None:
    """A session that somebody holds for ever costs a bounded wait; the events are safe on the disk then."""
    memory.turn_completed("maya", "s", TURN)
    memory.store.postgres.read(lambda connection: connection.execute("SET statement_timeout = 200"))
    with psycopg.connect(database_url) as holder:
        holder.execute("SELECT 1 FROM slowwave.sessions FOR UPDATE")
        assert memory.turn_completed("maya", "s", TURN).stored == "spool"
    assert memory.flush(60)
    assert len(contents(database_url, "s")) == 4
