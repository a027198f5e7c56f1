"""Bodies that never end, sent to a console that runs as a process: it holds none of them before somebody logged in."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime

import pytest
import redis
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.settings import Settings
from slowwave_server.services.access.console_users import add_user
from slowwave_server.workers.console.app import make_app
from slowwave_server.workers.console.routing import SMALL_BODY_BYTES
from tests.attacks.consoling import PASSWORD, ConsoleProcess, console_process
from tests.console.conftest import CHEAP, Console, on_a_port, token_of

pytestmark = pytest.mark.servers

SENDERS = 400
SENT = 1 << 20
FORM = "Content-Type: application/x-www-form-urlencoded\r\n"


@pytest.fixture(scope="module")
def process(module_database: str, valkey_url: str) -> Iterator[ConsoleProcess]:
    with console_process({"SLOWWAVE_DATABASE_URL": module_database, "SLOWWAVE_BROKER_URL": valkey_url}) as process:
        yield process


def flood(process: ConsoleProcess, path: str, length: str, sent: int) -> int:
    """SENDERS bodies whose last byte never comes; answers what the process holds while all of them are under way."""
    head = f"POST {path} HTTP/1.1\r\nHost: console\r\n{FORM}{length}\r\n\r\n"
    with ExitStack() as held:
        for _ in range(SENDERS):
            sender = held.enter_context(socket.create_connection(("127.0.0.1", process.port), timeout=20))
            with suppress(ConnectionError):
                sender.sendall(head.encode() + b"a" * sent)
        assert process.ask("GET", "/healthz").status == 200
        return process.memory("VmRSS")


@pytest.mark.parametrize(
    ("path", "length", "sent"),
    [
        ("/forget", f"Content-Length: {SENT + 1}", SENT),
        ("/login", f"Content-Length: {SENT + 1}", SENT),
        ("/login", f"Transfer-Encoding: chunked\r\n\r\n{SENT + 1:x}", SENT),
        ("/login", f"Content-Length: {SMALL_BODY_BYTES}", SMALL_BODY_BYTES - 1),
    ],
)
def test_slow_bodies_of_strangers_hold_no_memory(process: ConsoleProcess, path: str, length: str, sent: int) -> None:
    first = flood(process, path, length, sent)  # threads, templates, connections to Postgres are there from here on
    second = flood(process, path, length, sent)
    assert second - first < SENDERS * SENT / 5, "a server reads 64 kB ahead of each connection, and no more"


@pytest.fixture
def hurried(engine: Engine, database_url: str, valkey_url: str, redis_client: redis.Redis) -> Iterator[Console]:
    """A console that waits half a second for a form."""
    with engine.begin() as connection:
        add_user(connection, "operator", "operator", ["default"], PASSWORD, passwords=CHEAP)
    settings = Settings(database_url=database_url, broker_url=valkey_url)
    with Memory(settings) as memory:
        app = make_app(settings, engine, redis_client, lambda: datetime.now(UTC), memory, body_seconds=0.5)
        console = Console(settings, engine, redis_client, memory, app)
        yield console
        console.close()


def test_slow_body_is_refused_at_its_deadline(hurried: Console) -> None:
    client = hurried.visitor("operator")
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    with on_a_port(hurried) as address:
        for path in ("/login", "/flush"):
            asked = f"POST {path} HTTP/1.1\r\nHost: console\r\nCookie: {cookies}\r\n{FORM}Content-Length: 100\r\n\r\na="
            with socket.create_connection(("127.0.0.1", int(address.rsplit(":", 1)[1])), timeout=20) as sender:
                sender.sendall(asked.encode())
                answer = b"".join(iter(lambda sender=sender: sender.recv(65536), b""))  # type: ignore[misc]
            assert answer.startswith(b"HTTP/1.1 408 "), path
            assert b"did not arrive within 0.5 seconds" in answer


def test_long_forms_are_refused_by_what_they_declare(hurried: Console) -> None:
    client = hurried.visitor("operator")
    kinds = {"content-type": "application/x-www-form-urlencoded"}
    for path in ("/login", "/logout", "/account/tenant"):
        answer = client.post(path, content=b"a" * (SMALL_BODY_BYTES + 1), headers=kinds)
        assert (answer.status_code, answer.headers["connection"]) == (413, "close"), path
    token = token_of(client.get("/account").text)
    assert client.post("/flush", data={"token": token, "agent": "a" * 2 * SMALL_BODY_BYTES}).status_code != 413


def test_strangers_are_refused_before_their_body(hurried: Console) -> None:
    asked = f"POST /forget HTTP/1.1\r\nHost: console\r\n{FORM}Content-Length: 100\r\n\r\n"
    with (
        on_a_port(hurried) as address,
        socket.create_connection(("127.0.0.1", int(address.rsplit(":", 1)[1])), timeout=20) as sender,
    ):
        sender.sendall(asked.encode())
        answer = b"".join(iter(lambda: sender.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 401 "), "no byte of the body was sent"
