"""A database, a broker and processes of one test module: started once, ended with it, never those of the whole run."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from slowwave import Memory
from slowwave_server.models.engine import make_engine
from tests.workers.fleet import Fleet
from tests.workers.servers import OwnValkey


@pytest.fixture(scope="module")
def own_valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnValkey]:
    """A Valkey of this module alone, which it may stop and start."""
    server = OwnValkey(tmp_path_factory.mktemp("valkey"))
    server.start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where logs, the spool and the holds of this module's processes are."""
    return tmp_path_factory.mktemp("fleet")


@pytest.fixture(scope="module")
def fleet(module_database: str, own_valkey: OwnValkey, folder: Path) -> Iterator[Fleet]:
    """Starts processes on this module's servers; what is left of them ends with the module."""
    fleet = Fleet(module_database, own_valkey.url, folder)
    yield fleet
    fleet.end()


@pytest.fixture(scope="module")
def memory(fleet: Fleet) -> Iterator[Memory]:
    """The client on this module's servers."""
    with Memory(fleet.settings()) as memory:
        yield memory


@pytest.fixture(scope="module")
def look(fleet: Fleet) -> Iterator[Engine]:
    """An engine on this module's database, to see what became of it all."""
    engine = make_engine(fleet.settings().database_url)
    yield engine
    engine.dispose()
