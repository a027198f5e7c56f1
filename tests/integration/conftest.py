"""Fixtures that several files of this folder share."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.support.recalling import Shelf


@pytest.fixture
def shelf(database_url: str) -> Iterator[Shelf]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield Shelf(connection)
