"""A witness of what is written to a module's database, and the servers and processes of tests/workers."""

from collections.abc import Iterator

import pytest

from tests.attacks.fuzzing import Witness
from tests.workers.conftest import fleet, folder, look, memory, own_valkey

__all__ = ["fleet", "folder", "look", "memory", "own_valkey"]


@pytest.fixture(scope="module")
def witness(module_database: str) -> Iterator[Witness]:
    """Sees whether a call wrote something."""
    witness = Witness(module_database)
    yield witness
    witness.close()
