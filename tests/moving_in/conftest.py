"""The installation of each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from sqlalchemy import Engine

from slowwave.settings import load_settings
from tests.moving_in.moving import House
from tests.support.flushing import make_scene


@pytest.fixture
def house(database_url: str, valkey_url: str, engine: Engine, redis_client: Redis, tmp_path: Path) -> Iterator[House]:
    settings = load_settings(
        database_url=database_url,
        broker_url=valkey_url,
        spool=tmp_path / "spool",
        memory={"files": {"root": tmp_path / "memory"}},
    )
    scene = make_scene(engine, redis_client)
    return House(engine, redis_client, settings, scene)
