"""A running console on real servers, people of each role, and a browser: Debian's chromium."""

import asyncio
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from socket import socket
from typing import Any

import pytest
import redis
import uvicorn
from argon2 import PasswordHasher
from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import Engine
from starlette.testclient import TestClient

from slowwave import Memory
from slowwave.settings import Settings
from slowwave_server.domain.console_roles import ORDER, UserRole
from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.api_keys import NewKey, make_key
from slowwave_server.services.access.console_users import Passwords, add_user
from slowwave_server.workers.console.app import make_app
from slowwave_server.workers.listening_sockets import listen_on
from tests.support.walls import open_world, settings_on

CHROMIUM = shutil.which("chromium")
PASSWORD = "correct horse battery"  # noqa: S105
CHEAP = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
TENANT = "acme"


@dataclass
class Console:
    """A console of tenant "acme" with a person of each role, named as the role, and one who sees "globex" alone."""

    settings: Settings
    engine: Engine
    redis: redis.Redis
    memory: Memory
    app: Any
    clients: dict[str, TestClient] = field(default_factory=dict)

    def visitor(self, who: str | None) -> TestClient:
        """A client that keeps its cookies; who: "viewer", "curator", "operator", "stranger" (globex), None."""
        key = who or ""
        if key not in self.clients:
            client = self.clients[key] = TestClient(self.app, base_url="http://127.0.0.1", follow_redirects=False)
            if who is not None:
                page = client.get("/login")
                sent = {"name": who, "password": PASSWORD, "token": token_of(page.text)}
                assert client.post("/login", data=sent).status_code == 303
        return self.clients[key]

    def get(self, path: str, *, who: str = "viewer") -> Any:
        """The answer to a page that is looked at."""
        return self.visitor(who).get(path)

    def post(self, path: str, *, who: str = "operator", **form: str) -> Any:
        """The answer to a form that is sent with its token."""
        client = self.visitor(who)
        return client.post(path, data={"token": token_of(client.get("/account").text), **form})

    def close(self) -> None:
        for client in self.clients.values():
            client.close()


def token_of(page: str) -> str:
    found = re.search(r'name="token" value="([^"]+)"', page)
    assert found is not None
    return found[1]


def add_people(engine: Engine) -> None:
    people: list[tuple[str, UserRole, str]] = [(role, role, TENANT) for role in ORDER]
    with engine.begin() as connection:
        for name, role, tenant in [*people, ("stranger", "operator", "globex")]:
            add_user(connection, name, role, [tenant], PASSWORD, passwords=CHEAP)


@contextmanager
def open_console(engine: Engine, client: redis.Redis, settings: Settings) -> Iterator[Console]:
    """A console without a port: pages are asked for in this process."""
    add_people(engine)
    with Memory(settings) as memory:
        app = make_app(settings, engine, client, lambda: datetime.now(UTC), memory)
        made = Console(settings, engine, client, memory, app)
        yield made
        made.close()
        # A check that still runs would return its connection to an engine that is disposed of, and leave it open.
        for thread in threading.enumerate():
            if thread.name.startswith("console-"):
                thread.join(30)


@pytest.fixture
def console(engine: Engine, database_url: str, valkey_url: str, redis_client: redis.Redis) -> Iterator[Console]:
    """A console of this test alone."""
    with open_console(
        engine, redis_client, Settings(database_url=database_url, broker_url=valkey_url, tenant=TENANT)
    ) as made:
        yield made


@contextmanager
def on_a_port(console: Console) -> Iterator[str]:
    """The address of a console on a port of this machine, for a browser."""
    config = uvicorn.Config(
        console.app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)
    with listen_on("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=lambda: asyncio.run(_answer(server, listening)), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)
    assert not thread.is_alive(), "the console has ended"


async def _answer(server: uvicorn.Server, listening: socket) -> None:
    """Until it is told to end, with every connection: uvicorn overlooks one that comes in this very moment."""
    await server.serve(sockets=[listening])
    for connection in list(server.server_state.connections):
        connection.transport.abort()
    await asyncio.sleep(0)  # in this round of the loop their sockets are closed


@pytest.fixture
def served(console: Console) -> Iterator[str]:
    """The address of this test's console."""
    with on_a_port(console) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, started once a file: while it runs its driver's event loop is this thread's, and no other can be."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine: apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, served: str) -> Iterator[Page]:
    """A page of the browser, with an address that "/" is relative to; nobody is logged in."""
    context = browser.new_context(base_url=served)
    context.set_default_timeout(10_000)
    yield context.new_page()
    context.close()


def log_in(page: Page, who: str) -> None:
    """Log in by the form, as a person does."""
    page.goto("/login")
    page.get_by_label("Name").fill(who)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/")


@pytest.fixture(scope="module")
def filled(module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """Two tenants with something in every table, and markup beside each of their words, wherever it stands."""
    from tests.console.walking import WORDS, mark  # noqa: PLC0415 (it walks through what is made here)

    engine, client = make_engine(module_database), redis.Redis.from_url(valkey_url)
    client.flushall()
    settings = settings_on(module_database, valkey_url, tmp_path_factory.mktemp("console"))
    for _ in open_world(engine, settings, client, tmp_path_factory.mktemp("files")):
        pass
    with engine.begin() as connection:
        for tenant, words in WORDS.items():
            wanted = NewKey(f"{words[0]} app", ["read"], [words[0]], [f"room:{words[0]}"])
            make_key(connection, tenant, wanted, by=words[0], now=datetime.now(UTC))
        mark(connection)
    with open_console(engine, client, settings.model_copy(update={"tenant": TENANT})) as console:
        yield console
    client.close()
    engine.dispose()
