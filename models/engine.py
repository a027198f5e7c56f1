"""The engine: how this process reaches Postgres."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import psycopg
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import make_url

STATEMENT_TIMEOUT_MS = 30_000
LOCK_TIMEOUT_MS = 15_000
"""A statement that waits longer for a lock ends with an error that says so."""


def make_engine(
    database_url: str,
    *,
    pool_size: int = 2,
    statement_timeout_ms: int = STATEMENT_TIMEOUT_MS,
    lock_timeout_ms: int = LOCK_TIMEOUT_MS,
    pre_ping: bool = True,
    autocommit: bool = False,
) -> Engine:
    """An engine that tests connections before use and limits the time of statements.

    pre_ping: False spares that test, a round trip each time, for callers that try again by themselves. autocommit: each
    statement is its own transaction. It is said here and not by `execution_options`, since an engine derived from that
    one could never have transactions again: of two derivations the first wins. Make it after a fork, never before: a
    psycopg connection must not be shared between processes.
    """
    url = make_url(database_url).set(drivername="postgresql+psycopg")
    return create_engine(
        url,
        pool_size=pool_size,
        max_overflow=2,
        pool_pre_ping=pre_ping,
        pool_recycle=1800,
        # An error that is stored or logged must not quote what somebody said.
        hide_parameters=True,
        isolation_level="AUTOCOMMIT" if autocommit else "READ COMMITTED",
        connect_args={
            "connect_timeout": 5,
            # Statements are many and short: helpers and compiled plans cost more than they save, where they are chosen
            # by mistake.
            "options": f"-c statement_timeout={statement_timeout_ms} -c lock_timeout={lock_timeout_ms} -c timezone=UTC"
            " -c max_parallel_workers_per_gather=0 -c jit=off",
        },
    )


@contextmanager
def driver_connection(engine: Engine) -> Iterator[psycopg.Connection[Any]]:
    """A driver connection of the engine's pool, without SQLAlchemy, for frequent statements.

    Each statement is its own transaction. Errors are those of psycopg, and a connection on which one was raised is not
    used again.
    """
    pooled = engine.raw_connection()
    try:
        plain = cast("psycopg.Connection[Any]", pooled.driver_connection)
        if plain.autocommit:
            yield plain
        else:
            plain.autocommit = True
            yield plain
            plain.autocommit = False
    except BaseException:
        pooled.invalidate()
        raise
    finally:
        pooled.close()


def driver_of(connection: Connection) -> psycopg.Connection[Any]:
    """The driver's connection of an open connection, for the client's reads in the same transaction."""
    return cast("psycopg.Connection[Any]", connection.connection.driver_connection)
