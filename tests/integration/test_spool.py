"""Outages of the real Postgres: nothing is lost, nothing comes twice, nothing overtakes, nobody is bothered."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import redis

from slowwave import Memory, SpoolFull, StoreUnavailable
from slowwave.coordination.keys import NORMAL_QUEUE
from slowwave.spool import spooled
from slowwave.store import Mode
from tests.support.capturing import TURN, broken_sessions, contents, memory_on, rows, settings_of

pytestmark = pytest.mark.servers

MODES: list[Mode] = ["durable", "background"]


class Outage:
    """Takes a test's database down and up again: its connections are cut and new ones refused."""

    def __init__(self, server_url: str, database_url: str) -> None:
        self._server_url = server_url
        self._name = database_url.partition("?")[0].rpartition("/")[2]

    def begin(self) -> None:
        with psycopg.connect(self._server_url, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {self._name} ALLOW_CONNECTIONS false".encode())
            connection.execute(
                "SELECT pg_terminate_backend(pid, 10_000) FROM pg_stat_activity WHERE datname = %s", (self._name,)
            )

    def end(self) -> None:
        with psycopg.connect(self._server_url, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {self._name} ALLOW_CONNECTIONS true".encode())

    @contextmanager
    def lasting(self) -> Iterator[None]:
        self.begin()
        try:
            yield
        finally:
            self.end()


@pytest.fixture
def outage(postgres_url: str, database_url: str) -> Iterator[Outage]:
    outage = Outage(postgres_url, database_url)
    yield outage
    outage.end()


def say(memory: Memory, text: str, session: str = "s") -> str:
    return memory.turn_completed("maya", session, [{"role": "user", "content": text}]).stored


@pytest.mark.parametrize("mode", MODES)
def test_an_outage_loses_nothing_and_keeps_the_order(
    database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path, outage: Outage, mode: Mode
) -> None:
    with memory_on(database_url, valkey_url, tmp_path, mode) as memory:
        for number in range(10):
            say(memory, f"before {number}", f"s{number % 2}")
        with outage.lasting():
            stored = {say(memory, f"during {number}", f"s{number % 2}") for number in range(10)}
            assert stored == ({"spool"} if mode == "durable" else {"queued"})
            assert memory.flush(1) is False
            assert memory.store.settings.spool == tmp_path
            assert spooled(tmp_path).files > 0
        for number in range(10):
            say(memory, f"after {number}", f"s{number % 2}")
        assert memory.flush(60)
        for half in (0, 1):
            order = [f"{when} {n}" for when in ("before", "during", "after") for n in range(half, 10, 2)]
            assert contents(database_url, f"s{half}") == order
        assert broken_sessions(database_url) == []
        assert spooled(tmp_path) == (0, 0, 0)
        assert say(memory, "again") == ("postgres" if mode == "durable" else "queued")


def test_events_that_waited_keep_the_time_at_which_they_were_said(
    database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path, outage: Outage
) -> None:
    with memory_on(database_url, valkey_url, tmp_path) as memory:
        with outage.lasting():
            say(memory, "during")
            said_by = time.time()
        assert memory.flush(60)
    query = "SELECT happened_at <= to_timestamp(%s), recorded_at > happened_at FROM slowwave.events"
    assert rows(database_url, query, [said_by]) == [(True, True)]


def test_flushes_of_delivered_events_are_offered(
    database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path, outage: Outage
) -> None:
    with memory_on(database_url, valkey_url, tmp_path) as memory:
        with outage.lasting():
            for _ in range(6):
                memory.turn_completed("maya", "s", TURN)
        assert memory.flush(60)
        assert redis_client.llen(NORMAL_QUEUE) == 1


def test_whoever_asks_is_told_after_the_events_are_safe(
    database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path, outage: Outage
) -> None:
    settings = settings_of(database_url, valkey_url, tmp_path)
    with Memory(settings, raise_errors=True) as memory:
        with outage.lasting():
            with pytest.raises(StoreUnavailable, match="will be delivered"):
                say(memory, "one")
            with pytest.raises(StoreUnavailable):
                memory.prompt_arrived("maya", "s")
        assert memory.flush(60)
        assert contents(database_url, "s") == ["one"]


def test_a_prompt_during_an_outage_is_answered(
    database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path, outage: Outage
) -> None:
    with memory_on(database_url, valkey_url, tmp_path) as memory, outage.lasting():
        assert memory.prompt_arrived("maya", "s") == ()


@pytest.mark.parametrize("mode", MODES)
def test_with_neither_server_nor_disk_the_caller_is_told(valkey_url: str, tmp_path: Path, mode: Mode) -> None:
    (tmp_path / "file").write_text("in the way")
    memory = memory_on("postgresql://nobody@127.0.0.1:1/none", valkey_url, tmp_path / "file", mode)
    if mode == "durable":
        with pytest.raises(SpoolFull):
            say(memory, "one")
        memory.close()
    else:
        assert say(memory, "one") == "queued"
        with pytest.raises(SpoolFull):
            memory.store.close(0.5)


def test_a_refused_entry_of_the_spool_is_set_aside_and_the_rest_is_delivered(
    database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path, outage: Outage
) -> None:
    with memory_on(database_url, valkey_url, tmp_path) as memory:
        memory.turn_completed("maya", "s", [{"role": "user", "content": "first"}], scope="room:kitchen")
        with outage.lasting():
            memory.turn_completed("maya", "s", [{"role": "user", "content": "refused"}], scope="room:cellar")
            say(memory, "last")
        assert memory.flush(60)
        assert contents(database_url, "s") == ["first", "last"]
        (rejected,) = tmp_path.glob("*.rejected")
        assert "the session writes to scope room:kitchen already" in rejected.read_text()
        assert "refused" in rejected.read_text()


CRASHES = """
import os, signal, sys
from slowwave import Memory, Settings
memory = Memory(Settings(database_url=sys.argv[1], broker_url=sys.argv[2], spool=sys.argv[3]), mode=sys.argv[4])
for number in range(20):
    memory.turn_completed("maya", "s", [{"role": "user", "content": str(number)}], key=str(number))
memory.flush(1)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("mode", MODES)
def test_what_a_killed_process_left_is_delivered_once_by_the_next(
    database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path, outage: Outage, mode: Mode
) -> None:
    with outage.lasting():
        command = [sys.executable, "-c", CRASHES, database_url, valkey_url, str(tmp_path), mode]
        assert subprocess.run(command, check=False, timeout=60).returncode == -signal.SIGKILL
    assert spooled(tmp_path).files > 0
    # Two processes start at the same time: the lock gives each segment to one of them.
    with memory_on(database_url, valkey_url, tmp_path) as one, memory_on(database_url, valkey_url, tmp_path) as two:
        end = time.monotonic() + 60
        while spooled(tmp_path).files:
            assert time.monotonic() < end, "the segments are still there"
            threading.Event().wait(0.01)
        assert one.flush(10)
        assert two.flush(10)
    assert contents(database_url, "s") == [str(number) for number in range(20)]
    assert broken_sessions(database_url) == []


def test_outages_in_the_middle_of_many_writers_end_with_every_event_once(
    database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path, outage: Outage
) -> None:
    """A statement whose connection is cut may have been committed or not: the keys make both right."""
    done = threading.Event()

    def disturb() -> None:
        while not done.wait(0.05):
            with outage.lasting():
                pass

    def write(writer: int) -> None:
        for number in range(30):
            say(memory, f"{number}", f"s{writer}")

    with memory_on(database_url, valkey_url, tmp_path) as memory:
        disturber = threading.Thread(target=disturb)
        writers = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
        disturber.start()
        for thread in writers:
            thread.start()
        for thread in writers:
            thread.join()
        done.set()
        disturber.join()
        assert memory.flush(60)
    for writer in range(4):
        assert contents(database_url, f"s{writer}") == [str(number) for number in range(30)]
    assert broken_sessions(database_url) == []
    assert list(tmp_path.iterdir()) == []
