"""The TypeScript client, built."""

from pathlib import Path

import pytest

from tests.typescript.node import CLIENT, build


@pytest.fixture(scope="session")
def client() -> Path:
    """The folder of the built client. Skips where Node, or a registry to build it with, is missing."""
    build()
    return CLIENT
