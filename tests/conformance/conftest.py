"""A world for each backend: one database, one mem0, and of each test its own agents."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from redis import Redis

from slowwave_server.models.engine import make_engine
from tests.support.backing import BACKENDS, World

MakeWorld = Callable[[str], World]


@pytest.fixture(scope="module")
def make_world(
    postgres_url: str, template_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MakeWorld]:
    worlds: dict[str, World] = {}
    redis = Redis.from_url(valkey_url)

    def make(kind: str) -> World:
        if kind not in worlds:
            name = f"test_{uuid.uuid4().hex[:12]}"
            with psycopg.connect(postgres_url, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name} TEMPLATE {template_database} STRATEGY wal_log")
            url = postgres_url.replace("/postgres?", f"/{name}?")
            folder: Path = tmp_path_factory.mktemp("world")
            worlds[kind] = World(make_engine(url), url, redis, folder, kind)
        worlds[kind].kind = kind
        worlds[kind].begin()
        return worlds[kind]

    yield make
    for world in worlds.values():
        world.engine.dispose()
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {world.database} WITH (FORCE)")
    redis.close()


@pytest.fixture(params=BACKENDS)
def world(request: pytest.FixtureRequest, make_world: MakeWorld) -> World:
    return make_world(str(request.param))


@pytest.fixture(params=BACKENDS[1:])
def fed(request: pytest.FixtureRequest, make_world: MakeWorld) -> World:
    """A world of a backend that is fed."""
    return make_world(str(request.param))


@pytest.fixture
def mem0(make_world: MakeWorld) -> World:
    return make_world("mem0")
