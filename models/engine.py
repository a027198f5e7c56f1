"""Make the engine: this process's connections to Postgres."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import psycopg
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import make_url

from slowwave_server.models.driver import LOCK_TIMEOUT_MS, STATEMENT_TIMEOUT_MS, connect_arguments


def make_engine(
    database_url: str,
    *,
    pool_size: int = 2,
    statement_timeout_ms: int = STATEMENT_TIMEOUT_MS,
    lock_timeout_ms: int = LOCK_TIMEOUT_MS,
    pre_ping: bool = True,
    autocommit: bool = False,
) -> Engine:
    """Return an engine that tests connections before use and limits the time of statements.

    pre_ping: False skips the test, which costs a round trip, for callers that retry themselves. autocommit: True if
    each statement is its own transaction. It is set here and not by `execution_options`, because an engine derived from
    such an engine could never have transactions again: of two derivations, the first wins. Call this after a fork,
    never before, because processes must not share a psycopg connection.
    """
    url = make_url(database_url).set(drivername="postgresql+psycopg")
    return create_engine(
        url,
        pool_size=pool_size,
        max_overflow=2,
        pool_pre_ping=pre_ping,
        pool_recycle=1800,
        # An error that is stored or logged must not quote a conversation.
        hide_parameters=True,
        isolation_level="AUTOCOMMIT" if autocommit else "READ COMMITTED",
        connect_args=connect_arguments(statement_timeout_ms, lock_timeout_ms),
    )


@contextmanager
def driver_connection(engine: Engine) -> Iterator[psycopg.Connection[Any]]:
    """A driver connection of the engine's pool, without SQLAlchemy, for frequent statements.

    Each statement is its own transaction. Errors are psycopg's. A connection that raised one is not used again.
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
    """Return the driver's connection of an open connection, for the client's reads in the same transaction."""
    return cast("psycopg.Connection[Any]", connection.connection.driver_connection)
