"""A database for all examples of a module, and a witness of what is written there."""

import uuid
from collections.abc import Iterator

import psycopg
import pytest

from tests.attacks.fuzzing import Witness


@pytest.fixture(scope="module")
def fuzzed_database(postgres_url: str, template_database: str) -> Iterator[str]:
    """A database of this module alone: what one example leaves there, the next one meets."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template_database} STRATEGY wal_log")
        yield postgres_url.replace("/postgres?", f"/{name}?")
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def witness(fuzzed_database: str) -> Iterator[Witness]:
    """Sees whether a call wrote something."""
    witness = Witness(fuzzed_database)
    yield witness
    witness.close()
