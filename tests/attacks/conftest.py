"""A witness of what is written to a module's database."""

from collections.abc import Iterator

import pytest

from tests.attacks.fuzzing import Witness


@pytest.fixture(scope="module")
def witness(module_database: str) -> Iterator[Witness]:
    """Sees whether a call wrote something."""
    witness = Witness(module_database)
    yield witness
    witness.close()
