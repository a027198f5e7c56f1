"""Databases of tests: clones of a template, and each one serves many tests while they only change rows.

A new clone costs a test more than most of what it does, and so does a new connection, which reads the catalogue again
and plans every function anew.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg
from sqlalchemy import Engine, Pool
from sqlalchemy.exc import SQLAlchemyError

MOST_TESTS = 50
MOST_ROWS = 5000
"""Deleted rows slow down later reads: a clone that held many of them, or had many tests, is dropped."""

_TABLES = "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'slowwave'::regnamespace AND relkind = 'r'"
_CATALOGUE = (
    "SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'r'"
    " AND NOT relisshared AND relname NOT IN ('pg_statistic', 'pg_init_privs', 'pg_largeobject')"
)
_WITHOUT_TEMPORARY = "pg_namespace WHERE nspname !~ '^pg_(toast_)?temp_'"
"""A connection that has made a temporary table leaves its empty schema."""
_SETTINGS = (
    "SELECT (SELECT count(*) FROM pg_statistic WHERE starelid >= 16384), d.xmin::text,"
    " (SELECT count(*) FROM pg_db_role_setting s WHERE s.setdatabase = d.oid)"
    " FROM pg_database d WHERE d.datname = current_database()"
)
_END = (
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid <> ALL(%s)"
)
_RESTART = "SELECT setval(seqrelid, seqstart, false) FROM pg_sequence"
_FORGET = (
    "CLOSE ALL; RESET SESSION AUTHORIZATION; RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP;"
    " DISCARD SEQUENCES"
)


def database(server_url: str, name: str) -> str:
    """The URL of a database of a server."""
    return server_url.replace("/postgres?", f"/{name}?")


@dataclass
class Clone:
    """A database, with a superuser's connection to it and the connections that its last engine left."""

    name: str
    url: str
    connection: psycopg.Connection
    tests: int = 1
    pool: Pool | None = None
    backends: list[int] = field(default_factory=list)
    """The server's processes for the connections of the pool."""

    def __post_init__(self) -> None:
        self.connection.execute("SET session_replication_role = replica")  # deletes ask no trigger and no foreign key
        tables = self._column(_TABLES)
        held = [table for table in tables if self._column(f"SELECT FROM {table} LIMIT 1")]
        catalogue = (_WITHOUT_TEMPORARY if table == "pg_namespace" else table for table in self._column(_CATALOGUE))
        parts = [f"SELECT (count(*), max(xmin::text::bigint))::text FROM {table}" for table in catalogue]
        self._state = "SELECT " + ", ".join(f"({part})" for part in parts)
        self._filled = " UNION ALL ".join(f"(SELECT '{t}' FROM {t} LIMIT 1)" for t in tables if t not in held)
        self._made = self._look()
        self._held = {table: self._rows(table) for table in held}

    def _column(self, query: str) -> list[str]:
        return [row[0] if row else "" for row in self.connection.execute(query)]

    def _rows(self, table: str) -> tuple[str] | None:
        """The rows of a table that a migration fills, as text."""
        return self.connection.execute(f"SELECT array_agg(t ORDER BY t)::text FROM {table} t").fetchone()

    def _look(self) -> list[object]:
        """What a test changes seldom: every object and its rights, the planner's statistics."""
        return [self.connection.execute(query).fetchone() for query in (self._state, _SETTINGS)]

    def clean(self) -> bool:
        """Delete the rows of a test. False where it left something else than rows, or too many of them."""
        self.tests += 1
        self.connection.execute(_END, (self.backends,))
        if self.tests > MOST_TESTS or self._look() != self._made:
            return False
        rows = sum(self.connection.execute(f"DELETE FROM {table}").rowcount for table in self._column(self._filled))
        for table, made in self._held.items():
            if self._rows(table) != made:
                self.connection.execute(f"DELETE FROM {table}")
                self.connection.execute(f"INSERT INTO {table} SELECT t.* FROM unnest(%s::{table}[]) t", made)
        self.connection.execute(_RESTART)
        return rows <= MOST_ROWS

    def close(self) -> None:
        """Leave the database."""
        self.connection.close()
        if self.pool is not None:
            self.pool.dispose()


class Clones:
    """Makes databases at the newest revision, and cleans or drops those that tests are done with.

    It does so when the next one is asked for: right after its test a database has clients that are about to leave.
    """

    def __init__(self, server_url: str, template: str, server: psycopg.Connection, strategy: str) -> None:
        self._server_url = server_url
        self._template = template
        self._server = server
        self._strategy = strategy
        self._lent: dict[str, Clone] = {}
        self._left: list[Clone] = []
        self._done: list[str] = []

    @contextmanager
    def one(self, *, new: bool = False) -> Iterator[str]:
        """The URL of a database that is there for the time of the block at least. new: it never held another row."""
        clone = (None if new else self._clean()) or self._make()
        self._lent[clone.name] = clone
        try:
            yield clone.url
        finally:
            self._left.append(self._lent.pop(clone.name))

    @contextmanager
    def other(self, template: str) -> Iterator[str]:
        """The URL of a database with what another template holds."""
        name = self._create(template)
        try:
            yield database(self._server_url, name)
        finally:
            self._done.append(name)

    @contextmanager
    def connected(self, engine: Engine) -> Iterator[None]:
        """Let an engine inside the block use the connections that the one before it left, and keep those it leaves."""
        clone = self._lent[engine.url.database or ""]
        if clone.pool is not None:
            engine.pool = clone.pool
        yield
        clone.pool, clone.backends = None, []
        try:
            clone.backends = _forget(engine.pool)
            clone.pool = engine.pool
        except (SQLAlchemyError, psycopg.Error):
            engine.dispose()

    def close(self) -> None:
        """Leave all databases; they go with the server."""
        for clone in self._left:
            clone.close()

    def _create(self, template: str) -> str:
        name = f"test_{uuid.uuid4().hex[:12]}"
        while self._done:
            self._server.execute(f"DROP DATABASE IF EXISTS {self._done.pop()} WITH (FORCE)")
        self._server.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY {self._strategy}")
        return name

    def _make(self) -> Clone:
        name = self._create(self._template)
        url = database(self._server_url, name)
        return Clone(name, url, psycopg.connect(url, autocommit=True))

    def _clean(self) -> Clone | None:
        while self._left:
            clone = self._left.pop()
            try:
                if clone.clean():
                    return clone
            except psycopg.OperationalError:
                pass  # its test ended all connections, or dropped it
            clone.close()
            self._done.append(clone.name)
        return None


def _forget(pool: Pool) -> list[int]:
    """Bring every connection of a pool back to its first state. Returns the server's processes."""
    backends = []
    held = [pool.connect() for _ in range(pool.checkedin())]
    for connection in held:
        plain = connection.driver_connection
        plain.execute(_FORGET)
        if not plain.autocommit:
            plain.commit()
        backends.append(plain.info.backend_pid)
        connection.close()
    return backends
