"""A Postgres that stands still, or fails in the last moment.

While it stands still its host's kernel acknowledges, so that no time-out of TCP helps who waits for it.
"""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from slowwave.errors import Refused, StoreUnavailable
from slowwave.postgres import Postgres, PreparedStatement
from slowwave.read_timeout import ReadTimeoutConnection

pytestmark = pytest.mark.servers

INSERT = PreparedStatement(b"insert", b"INSERT INTO lines VALUES ($1) RETURNING word")
LENGTH = PreparedStatement(b"length", b"SELECT length($1)")


class Relay:
    """Carries bytes between clients and a server, until it is mute: then it takes all and answers nothing."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.mute = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def stand_still(self) -> None:
        """From now on nothing is answered, and nobody new is let in."""
        self.mute.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                threading.Thread(target=self._carry, args=(client, server), daemon=True).start()
                threading.Thread(target=self._carry, args=(server, client), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError), source, target:
            while data := source.recv(65536):
                if not self.mute.is_set():
                    target.sendall(data)


@pytest.fixture
def relay(database_url: str) -> Iterator[Relay]:
    given = conninfo_to_dict(database_url)
    relay = Relay(f"{given['host']}/.s.PGSQL.{given.get('port', 5432)}")
    yield relay
    if not relay.mute.is_set():
        relay.stand_still()


@pytest.fixture
def url(database_url: str, relay: Relay) -> str:
    return make_conninfo(database_url, host="127.0.0.1", port=relay.port)


def test_a_hook_gives_a_server_up_that_stands_still(relay: Relay, url: str) -> None:
    postgres = Postgres(url, answer_seconds=0.3)
    assert postgres.call(LENGTH, [b"Maya"]) == [(b"4",)]
    relay.stand_still()
    began = time.monotonic()
    with pytest.raises(StoreUnavailable):
        postgres.call(LENGTH, [b"Maya"])
    with pytest.raises(StoreUnavailable):
        postgres.begin(LENGTH, [b"Maya"])()
    assert time.monotonic() - began < 5
    postgres.close()


def test_a_reader_gives_a_server_up_that_stands_still(relay: Relay, url: str) -> None:
    postgres = Postgres(url, answer_seconds=0.3)
    assert postgres.read(lambda connection: connection.execute("SELECT 1").fetchone()) == (1,)
    relay.stand_still()
    began = time.monotonic()
    with pytest.raises(StoreUnavailable, match=r"refused|no answer"):
        postgres.read(lambda connection: connection.execute("SELECT 1").fetchone())
    assert time.monotonic() - began < 5
    postgres.close()


def test_a_reader_in_a_transaction_gives_up_once_and_is_told_why(relay: Relay, url: str) -> None:
    with ReadTimeoutConnection.connect(url) as connection:
        connection.answer_seconds = 0.3
        relay.stand_still()
        began = time.monotonic()
        with pytest.raises(psycopg.OperationalError, match=r"no answer within 0\.3 s"), connection.transaction():
            connection.execute("SELECT 1")
        assert connection.closed
        assert time.monotonic() - began < 5


def test_a_server_that_is_slow_is_waited_for_while_it_answers(url: str) -> None:
    with ReadTimeoutConnection.connect(url) as connection:
        connection.answer_seconds = 1.0
        rows = connection.execute("SELECT repeat('x', 9000), pg_sleep(0.1) FROM generate_series(1, 15)").fetchall()
        assert len(rows) == 15


def test_what_is_long_leaves_in_parts_and_arrives_whole(url: str) -> None:
    postgres = Postgres(url)
    assert postgres.call(LENGTH, [b"x" * 20_000_000]) == [(b"20000000",)]
    postgres.close()


def test_i1_an_answer_counts_only_when_its_transaction_has_committed(database_url: str) -> None:
    """Rows arrive before the commit: a server that ends in between has promised nothing."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE lines (word text UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        connection.execute("INSERT INTO lines VALUES ('Maya')")
    postgres = Postgres(database_url)
    with pytest.raises((Refused, StoreUnavailable)):
        postgres.call(INSERT, [b"Maya"])
    with pytest.raises((Refused, StoreUnavailable)):
        postgres.begin(INSERT, [b"Maya"])()
    assert postgres.call(INSERT, [b"Jonas"]) == [(b"Jonas",)]
    postgres.close()
