"""Lock the memory files of a scope, over all hosts: only one process writes them. Postgres releases the lock when its
holder dies.

A delivery holds the lock while it reads from Postgres and writes files, and a forget takes the lock before it deletes
files. A delivery therefore never writes data that was forgotten after the delivery read it (I10).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg.errors import LockNotAvailable
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError, OperationalError

from slowwave.errors import SlowwaveError

WAIT_SECONDS = 20.0

_LOCK = text("SELECT pg_advisory_lock(hashtextextended('slowwave.' || :of || ' ' || :scope, 0))")
_UNLOCK = text("SELECT pg_advisory_unlock(hashtextextended('slowwave.' || :of || ' ' || :scope, 0))")
_PATIENCE = text("SELECT set_config('lock_timeout', :milliseconds, false)")


class FilesBusy(SlowwaveError):
    """Another process held the lock of the scope's files during the whole waiting time."""


class HeldLock:
    """The lock, while it is held."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def check(self) -> None:
        """Check the lock directly before replacing a file. Raises OperationalError if the connection, and so the lock,
        is lost.
        """
        self._connection.execute(text("SELECT 1"))


@contextmanager
def file_lock(
    engine: Engine, scope_id: int, *, wait_seconds: float = WAIT_SECONDS, of: str = "files"
) -> Iterator[HeldLock]:
    """Lock the files of a scope for the duration of the `with` block. Raises FilesBusy after `wait_seconds`.

    of: the backend whose copies the lock protects.

    The lock has its own connection, without a transaction; the caller needs a second connection for its work.
    """
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        try:
            connection.execute(_PATIENCE, {"milliseconds": str(max(1, round(wait_seconds * 1000)))})
            connection.execute(_LOCK, {"of": of, "scope": str(scope_id)})
        except BaseException as error:
            # If a time limit ends the wait, the settings of the connection end with it, and so does a lock that came at
            # the last moment.
            connection.invalidate()
            if isinstance(error, OperationalError) and isinstance(error.orig, LockNotAvailable):
                what = "memory files" if of == "files" else f"memories in {of}"
                raise FilesBusy(f"another process is using the {what} of this scope; try again in a moment") from None
            raise
        try:
            yield HeldLock(connection)
        finally:
            _let_go(connection, of, scope_id)


def _let_go(connection: Connection, of: str, scope_id: int) -> None:
    try:
        connection.execute(_UNLOCK, {"of": of, "scope": str(scope_id)})
        connection.execute(text("RESET lock_timeout"))
    except DBAPIError:
        # In the pool, the connection would keep the lock.
        connection.invalidate()
