"""One database for a module of these tests, and a tenant of its own for each test: a wall that costs nothing."""

import uuid
from collections.abc import Iterator

import pytest

from slowwave import Memory
from tests.support.capturing import memory_on


@pytest.fixture(scope="module")
def shared_memory(module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory on a database of this module's own."""
    with memory_on(module_database, valkey_url, tmp_path_factory.mktemp("spool")) as memory:
        yield memory


@pytest.fixture
def tenant_memory(shared_memory: Memory) -> Memory:
    """The memory of a tenant that only this test knows."""
    return shared_memory.for_tenant(uuid.uuid4().hex)
