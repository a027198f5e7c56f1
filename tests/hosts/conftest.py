"""A sandboxed home on the test's own servers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from proof.coding_host import Home


@pytest.fixture
def home(database_url: str, valkey_url: str, tmp_path: Path) -> Iterator[Home]:
    """A home whose hosts reach the servers of this test."""
    servers = {"DATABASE_URL": database_url, "BROKER_URL": valkey_url, "SPOOL": str(tmp_path / "spool")}
    home = Home(tmp_path / "home", {f"SLOWWAVE_{name}": value for name, value in servers.items()})
    yield home
    home.close()


@pytest.fixture
def lonely_home(tmp_path: Path) -> Iterator[Home]:
    """A home whose servers are all away."""
    servers = {
        "DATABASE_URL": "postgresql://slowwave@127.0.0.1:1/slowwave",
        "BROKER_URL": "redis://127.0.0.1:1/0",
        "SPOOL": str(tmp_path / "spool"),
    }
    home = Home(tmp_path / "home", {f"SLOWWAVE_{name}": value for name, value in servers.items()})
    yield home
    home.close()
