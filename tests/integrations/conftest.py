"""One database for a module of these tests, and a tenant of its own for each test: a wall that costs nothing."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from slowwave import Memory
from tests.capturing import memory_on


@pytest.fixture(scope="module")
def shared_memory(
    postgres_url: str, template_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Memory]:
    """A memory on a database of this module's own."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template_database} STRATEGY wal_log")
        spool: Path = tmp_path_factory.mktemp("spool")
        with memory_on(postgres_url.replace("/postgres?", f"/{name}?"), valkey_url, spool) as memory:
            yield memory
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def tenant_memory(shared_memory: Memory) -> Memory:
    """The memory of a tenant that only this test knows."""
    return shared_memory.for_tenant(uuid.uuid4().hex)
