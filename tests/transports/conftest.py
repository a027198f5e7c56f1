"""The client, once for each transport, on the same servers: what a host sees must not depend on the way it takes."""

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import socket
from typing import Any

import pytest
import redis
import uvicorn

from slowwave import Memory, Settings, load_settings
from slowwave.http.backend import GatewayBackend
from slowwave.store import Mode
from slowwave_server.models.engine import make_engine
from slowwave_server.workers.listening_sockets import listen_on
from tests.gateway.conftest import Doors, open_doors
from tests.support.clones import Clones
from tests.transports.backing import TENANT, Backing
from tests.typescript.node import build
from tests.typescript.node_wire import NodeWire

TRANSPORTS = ("direct", "http", "typescript")
Connect = Callable[..., Memory]


@contextmanager
def served(app: Any, listening: socket) -> Iterator[str]:
    """The address of an app that a real server serves inside the block."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="package")
def package_database(clones: Clones) -> Iterator[str]:
    """A database of this package alone."""
    with clones.one() as url:
        yield url


@pytest.fixture(scope="package")
def doors(package_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """A gateway on it."""
    yield from open_doors(package_database, valkey_url, tmp_path_factory.mktemp("gateway"), requests_per_second=0)


@pytest.fixture(scope="package")
def backing(package_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backing]:
    folder: Path = tmp_path_factory.mktemp("transports")
    client = redis.Redis.from_url(valkey_url)
    client.flushall()
    settings = Settings(database_url=package_database, broker_url=valkey_url, tenant=TENANT, spool=folder / "spool")
    engine = make_engine(package_database)
    backing = Backing(settings, engine, client)
    with backing.answering():
        yield backing
    engine.dispose()
    client.close()


@pytest.fixture(scope="package")
def address(doors: Doors) -> Iterator[str]:
    """Where the gateway listens."""
    with listen_on("127.0.0.1", 0) as listening, served(doors.app, listening) as address:
        yield address


@pytest.fixture(scope="package", params=TRANSPORTS)
def connect(request: pytest.FixtureRequest, backing: Backing, tmp_path_factory: pytest.TempPathFactory) -> Connect:
    """Makes a memory of this transport, with a spool of its own."""

    if request.param == "typescript":
        build()

    def connect(mode: Mode = "durable", *, raise_errors: bool = True) -> Memory:
        spool = tmp_path_factory.mktemp("spool")
        if request.param == "direct":
            settings = backing.settings.model_copy(update={"spool": spool})
            return Memory(settings, mode=mode, raise_errors=raise_errors)
        address, doors = request.getfixturevalue("address"), request.getfixturevalue("doors")
        options: dict[str, Any] = {"mode": mode, "raise_errors": raise_errors}
        if request.param == "http":
            return Memory.from_url(address, doors.full(), spool=spool, **options)
        wire = NodeWire(address, doors.full())
        settings = load_settings(spool=spool)
        return Memory(settings, backend=GatewayBackend(settings, address, doors.full(), wire=wire, **options))

    return connect


@pytest.fixture(scope="package")
def memory(connect: Connect) -> Iterator[Memory]:
    with connect() as memory:
        yield memory


@pytest.fixture
def agent() -> str:
    """An agent of this test alone."""
    return f"agent-{uuid.uuid4().hex[:8]}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them need the servers."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.servers)
