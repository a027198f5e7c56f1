"""The stage, freshly set for each chapter."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from slowwave import Memory, Settings
from slowwave.coordination.flush_queue import FlushQueue
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.models.engine import make_engine
from tests.fundamentals.stage import Stage
from tests.support.flushing import Clock


@pytest.fixture
def stage(database_url: str, valkey_url: str, redis_client: Redis, tmp_path: Path) -> Iterator[Stage]:
    settings = Settings(database_url=database_url, broker_url=valkey_url, spool=tmp_path / "spool")
    engine = make_engine(database_url).execution_options(isolation_level="AUTOCOMMIT")
    with Memory(settings) as memory:
        yield Stage(memory, engine, redis_client, FlushQueue(redis_client), settings, RulesExtractor(), Clock())
    engine.dispose()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every chapter needs the servers; saying so in each would be noise in a tutorial."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.servers)
