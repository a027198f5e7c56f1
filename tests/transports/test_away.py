"""While what stands behind a transport is away: nothing recorded is lost, and whoever asks is told so."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from slowwave import InvalidSettings, Memory, NotAllowed, Settings, SlowwaveError, StoreUnavailable
from slowwave_server.workers.console.serving import listen_on
from tests.gateway.conftest import Doors
from tests.support.processes import wait_until
from tests.transports.backing import TENANT, Backing
from tests.transports.conftest import served

_SAID = (
    "SELECT e.content, e.happened_at FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id"
    " JOIN slowwave.agents a ON a.id = s.agent_id WHERE (a.tenant, a.name) = (%s, %s) ORDER BY s.name, e.seq"
)


@dataclass
class Way:
    """A transport that can be cut. away: a block in which it is; connect: makes a memory of it."""

    database: str
    away: Callable[[], AbstractContextManager[None]]
    connect: Callable[..., Memory]

    def said(self, agent: str) -> list[tuple[str, datetime]]:
        with psycopg.connect(self.database) as connection:
            return connection.execute(_SAID, (TENANT, agent)).fetchall()


@contextmanager
def _direct(server: str, database: str, spool: Path) -> Iterator[Way]:
    name = psycopg.conninfo.conninfo_to_dict(database)["dbname"]

    @contextmanager
    def away() -> Iterator[None]:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s"
            connection.execute(end, (name,))
            try:
                yield
            finally:
                connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")

    def connect(**options: bool) -> Memory:
        settings = Settings(database_url=database, broker_url="redis://127.0.0.1:1/0", tenant=TENANT, spool=spool)
        return Memory(settings, **options)

    yield Way(database, away, connect)


@contextmanager
def _http(doors: Doors, database: str, spool: Path) -> Iterator[Way]:
    with ExitStack() as serving:
        address = serving.enter_context(served(doors.app, serving.enter_context(listen_on("127.0.0.1", 0))))
        port = int(address.rpartition(":")[2])

        @contextmanager
        def away() -> Iterator[None]:
            serving.close()
            yield
            serving.enter_context(served(doors.app, serving.enter_context(listen_on("127.0.0.1", port))))

        def connect(**options: bool) -> Memory:
            return Memory.from_url(address, doors.full(), spool=spool, **options)

        yield Way(database, away, connect)


@pytest.fixture(params=("direct", "http"))
def way(request: pytest.FixtureRequest, postgres_url: str, tmp_path: Path) -> Iterator[Way]:
    if request.param == "direct":
        with _direct(postgres_url, request.getfixturevalue("module_database"), tmp_path / "spool") as way:
            yield way
    else:
        database = request.getfixturevalue("package_database")
        with _http(request.getfixturevalue("doors"), database, tmp_path / "spool") as way:
            yield way


def say(memory: Memory, agent: str, *lines: str) -> list[str]:
    return [memory.turn_completed(agent, "call-1", [{"role": "user", "content": line}]).stored for line in lines]


def test_turns_wait_on_the_disk_and_arrive_in_order(way: Way, agent: str) -> None:
    with way.connect() as memory:
        assert say(memory, agent, "one") == ["postgres"]
        with way.away():
            before = datetime.now(UTC)
            assert say(memory, agent, "two", "three") == ["spool", "spool"]
            after = datetime.now(UTC)
        assert memory.flush(timeout=60)
        assert say(memory, agent, "four") == ["postgres"]
    said = way.said(agent)
    assert [content for content, _ in said] == ["one", "two", "three", "four"]
    slack = timedelta(milliseconds=1)
    assert all(before - slack <= at <= after + slack for content, at in said if content in {"two", "three"})


def test_what_a_dead_process_left_is_delivered(way: Way, agent: str) -> None:
    with way.away(), way.connect() as memory:
        assert say(memory, agent, "one") == ["spool"]
    with way.connect():
        wait_until(lambda: len(way.said(agent)) == 1, 60, "the spool to be delivered")


def test_a_host_may_want_to_hear_of_it(way: Way, agent: str) -> None:
    with way.connect(raise_errors=True) as memory:
        with way.away(), pytest.raises(StoreUnavailable, match="wait in"):
            say(memory, agent, "one")
        assert memory.flush(timeout=60)
    assert [content for content, _ in way.said(agent)] == ["one"]


def test_whoever_asks_is_told_that_it_is_away(way: Way, agent: str) -> None:
    with way.connect() as memory, way.away():
        assert memory.prompt_arrived(agent, "call-1") == ()
        with pytest.raises(StoreUnavailable, match="nothing was noted"):
            memory.remember(agent, "Invoices as PDF.")


def test_a_background_host_notices_nothing(way: Way, agent: str) -> None:
    with way.connect(mode="background") as memory:
        with way.away():
            assert say(memory, agent, "one", "two") == ["queued", "queued"]
            assert not memory.flush(timeout=0.5)
        assert memory.flush(timeout=60)
    assert [content for content, _ in way.said(agent)] == ["one", "two"]


def test_i10_what_was_forgotten_meanwhile_stays_forgotten(
    doors: Doors, package_database: str, backing: Backing, agent: str, tmp_path: Path
) -> None:
    with _http(doors, package_database, tmp_path / "spool") as way, way.connect() as memory:
        say(memory, agent, "one")
        with way.away():
            assert say(memory, agent, "two") == ["spool"]
            with Memory(backing.settings) as direct:
                direct.forget(agent=agent, confirm=agent)
        assert memory.flush(timeout=60)
        assert way.said(agent) == []
        say(memory, agent, "three")
        assert [content for content, _ in way.said(agent)] == ["three"]


def test_a_key_that_is_refused_says_so(doors: Doors, address: str, agent: str, tmp_path: Path) -> None:
    with Memory.from_url(address, "sw_abcdefgh_" + "x" * 43, spool=tmp_path) as memory:
        for ask in (lambda: say(memory, agent, "one"), lambda: memory.context(agent)):
            with pytest.raises(NotAllowed):
                ask()


def test_a_key_without_the_right_may_not(doors: Doors, address: str, agent: str, tmp_path: Path) -> None:
    key = doors.key(TENANT, rights=("record",))
    with Memory.from_url(address, key, spool=tmp_path) as memory:
        assert say(memory, agent, "one") == ["postgres"]
        for ask in (lambda: memory.context(agent), lambda: memory.memories(agent), memory.status):
            with pytest.raises(NotAllowed):
                ask()
        with pytest.raises(NotAllowed, match="forget"):
            memory.forget(agent=agent)
        with pytest.raises(NotAllowed, match="tenant"):
            memory.for_tenant("globex")
        assert memory.for_tenant(None) is memory


def test_what_needs_postgres_itself_says_so_over_http(doors: Doors, address: str, tmp_path: Path) -> None:
    with (
        Memory.from_url(address, doors.full(), spool=tmp_path) as memory,
        pytest.raises(SlowwaveError, match=r"use Memory\.from_env"),
    ):
        _ = memory.store.settings


@pytest.mark.parametrize(
    ("url", "key", "says"),
    [
        ("memory.example.com", "sw_x", "address of a gateway"),
        ("https://user@memory.example.com", "sw_x", "address of a gateway"),
        ("https://memory.example.com", "", "key must be"),
        ("https://memory.example.com", "two words", "key must be"),
    ],
    ids=["scheme", "user", "no key", "words"],
)
def test_an_address_or_key_that_cannot_be_used(url: str, key: str, says: str) -> None:
    with pytest.raises(InvalidSettings, match=says):
        Memory.from_url(url, key)


def test_a_reply_does_not_wait_for_what_is_away(way: Way, agent: str) -> None:
    with way.connect() as memory, way.away():
        begun = time.monotonic()
        for ask in (lambda: memory.context(agent), lambda: memory.search(agent, "invoices")):
            with pytest.raises(StoreUnavailable):
                ask()
        assert time.monotonic() - begun < 8
