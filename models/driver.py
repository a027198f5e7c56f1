"""Connect to Postgres and read without SQLAlchemy, because some reads take less time than its import."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import psycopg
from psycopg.rows import dict_row

if TYPE_CHECKING:
    from sqlalchemy import Connection

Reads: TypeAlias = "Connection | psycopg.Connection[Any]"
"""A connection that `read_rows` accepts: SQLAlchemy's, of a process that stays, or the driver's, of a short command."""

MIGRATIONS = Path(__file__).parent / "migrations"
STATEMENT_TIMEOUT_MS = 30_000
LOCK_TIMEOUT_MS = 15_000
"""A statement that waits longer for a lock ends with an error that says so."""


class WrongSchema(Exception):
    """The database is at another revision than this code; the message names the command to run."""


@cache
def known_revisions() -> tuple[str, ...]:
    """Return all revisions of this code, newest first: the numbers in the names of the migrations' files."""
    names = sorted((file.name for file in (MIGRATIONS / "versions").glob("[0-9]*_*.py")), reverse=True)
    if not names:
        raise WrongSchema(f"no migrations in {MIGRATIONS}: this installation is incomplete, install it again")
    return tuple(name.partition("_")[0] for name in names)


def head_revision() -> str:
    """Return the revision for which this code was written."""
    return known_revisions()[0]


def connect_arguments(
    statement_timeout_ms: int = STATEMENT_TIMEOUT_MS, lock_timeout_ms: int = LOCK_TIMEOUT_MS
) -> dict[str, Any]:
    """Return the arguments of `psycopg.connect`: the time limits of a connection and of its statements."""
    return {
        "connect_timeout": 5,
        # Statements are many and short: helpers and compiled plans cost more than they save, where they are chosen
        # by mistake.
        "options": f"-c statement_timeout={statement_timeout_ms} -c lock_timeout={lock_timeout_ms} -c timezone=UTC"
        " -c max_parallel_workers_per_gather=0 -c jit=off",
    }


def read_rows(connection: Reads, sql: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Run a query on either kind of connection, in its transaction; return rows by column name. Raises that kind's
    errors.

    sql: in the driver's form: parameters as %(name)s, a percent sign as %%; a list serves `= ANY(…)`.
    """
    if isinstance(connection, psycopg.Connection):
        with connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(sql.encode(), values).fetchall()
    return [dict(row) for row in connection.exec_driver_sql(sql, dict(values)).mappings()]
