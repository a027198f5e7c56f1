"""Fixtures that several files of this folder share."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from redis import Redis
from sqlalchemy import Engine

from slowwave import Memory, Settings
from slowwave_server.services.forget.forget import Forgetter
from tests.support.clones import Clones
from tests.support.flushing import Scene, make_scene
from tests.support.passing import Past
from tests.support.recalling import Shelf


@pytest.fixture(scope="session")
def warm_connection(clones: Clones) -> Iterator[psycopg.Connection]:
    """A connection for many tests: a new one reads the catalogue again and plans each function anew."""
    with clones.one() as url, psycopg.connect(url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def shelf(request: pytest.FixtureRequest) -> Iterator[Shelf]:
    """What it holds is rolled back, unless the test lets others see it by asking for the address of its database."""
    if "database_url" in request.fixturenames:
        with psycopg.connect(request.getfixturevalue("database_url"), autocommit=True) as connection:
            yield Shelf(connection)
    else:
        connection = request.getfixturevalue("warm_connection")
        with connection.transaction(force_rollback=True):
            yield Shelf(connection)


@pytest.fixture
def settings(database_url: str, valkey_url: str, redis_client: Redis, tmp_path: Path) -> Settings:
    """Servers without data, and folders of this test."""
    assert redis_client.dbsize() == 0
    files: Any = {"files": {"root": str(tmp_path / "memory")}}
    return Settings(database_url=database_url, broker_url=valkey_url, spool=tmp_path / "spool", memory=files)


@pytest.fixture
def memory(settings: Settings) -> Iterator[Memory]:
    """The client of an agent's host."""
    with Memory(settings) as memory:
        yield memory


@pytest.fixture
def forgetter(engine: Engine, redis_client: Redis, settings: Settings) -> Forgetter:
    return Forgetter(engine, redis_client, settings, lambda: datetime.now(UTC))


@pytest.fixture
def scene(engine: Engine, redis_client: Redis) -> Iterator[Scene]:
    """Sessions that the test itself flushes, with the default settings."""
    return make_scene(engine, redis_client)


@pytest.fixture
def past(engine: Engine) -> Past:
    """Memories and runs of one agent at given times."""
    return Past(engine)
