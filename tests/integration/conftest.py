"""Fixtures that several files of this folder share."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from redis import Redis
from sqlalchemy import Engine

from slowwave import Memory
from tests.support.capturing import memory_on
from tests.support.flushing import Scene, make_scene
from tests.support.passing import Past
from tests.support.recalling import Shelf


@pytest.fixture
def shelf(database_url: str) -> Iterator[Shelf]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield Shelf(connection)


@pytest.fixture
def memory(database_url: str, valkey_url: str, redis_client: Redis, tmp_path: Path) -> Iterator[Memory]:
    """The client of an agent's host, on servers without data."""
    assert redis_client.dbsize() == 0
    with memory_on(database_url, valkey_url, tmp_path / "spool") as memory:
        yield memory


@pytest.fixture
def scene(database_url: str, redis_client: Redis) -> Iterator[Scene]:
    """Sessions that the test itself flushes, with the default settings."""
    scene = make_scene(database_url, redis_client)
    yield scene
    scene.engine.dispose()


@pytest.fixture
def past(engine: Engine) -> Past:
    """Memories and runs of one agent at given times."""
    return Past(engine)
