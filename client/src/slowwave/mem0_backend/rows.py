"""Connections for mem0's own rows in this Postgres, if no other vector store is configured.

The function `slowwave.create_mem0_schema` creates their schema, `slowwave_mem0`. mem0 expects a pool but calls only one
of its methods; this pool starts no threads, and a forked child opens its own connections.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from slowwave.errors import StoreUnavailable

SCHEMA = "slowwave_mem0"
TABLE = "memories"
IDLE = 2
STATEMENT_MS = 10_000
_SETTINGS = {"connect_timeout": 3, "keepalives_idle": 10, "tcp_user_timeout": 15_000}
_WHERE = (
    f"SELECT to_regclass('{SCHEMA}.{TABLE}') IS NOT NULL,"
    " (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector')"
)

Connection = psycopg.Connection[Any]


class Connections:
    """A replacement for the connection pool that mem0 expects. Threads may share one object."""

    def __init__(self, url: str) -> None:
        given = conninfo_to_dict(url)
        self._url = make_conninfo(url, **{key: value for key, value in _SETTINGS.items() if key not in given})
        self._lock = threading.Lock()
        # by process: a child neither uses nor closes connections of its parent
        self._idle: dict[int, list[Connection]] = {}

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Open a connection for a block, which is one transaction. Raises psycopg's errors and StoreUnavailable."""
        connection = self._take()
        try:
            yield connection
            connection.commit()
        except BaseException:
            if not connection.closed:
                connection.rollback()
            raise
        finally:
            self._put_back(connection)

    def close(self) -> None:
        """Close the idle connections of this process."""
        with self._lock:
            idle = self._idle.pop(os.getpid(), [])
        for connection in idle:
            connection.close()

    def _take(self) -> Connection:
        with self._lock:
            idle = self._idle.setdefault(os.getpid(), [])
            while idle:
                connection = idle.pop()
                if not connection.closed:
                    return connection
        return self._open()

    def _open(self) -> Connection:
        connection = psycopg.connect(self._url, autocommit=True)
        try:
            _look_in(connection)
            connection.execute(sql.SQL("SET statement_timeout = {}").format(sql.Literal(STATEMENT_MS)))
            connection.autocommit = False
        except BaseException:
            connection.close()
            raise
        return connection

    def _put_back(self, connection: Connection) -> None:
        with self._lock:
            idle = self._idle.setdefault(os.getpid(), [])
            if not connection.closed and not connection.broken and len(idle) < IDLE:
                idle.append(connection)
                return
        connection.close()


def _look_in(connection: Connection) -> None:
    """Set the search path. Without its own schema, mem0 would create a table in any schema to which it may write."""
    row = connection.execute(_WHERE).fetchone()
    if row is None or not row[0]:
        raise StoreUnavailable("mem0 holds nothing yet: no worker with memory.backend mem0 has started here")
    path = sql.SQL("SET search_path = {}, {}").format(sql.Identifier(SCHEMA), sql.Identifier(row[1]))
    connection.execute(path)
