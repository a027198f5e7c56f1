"""One pass over a scope at a time, over all hosts: a lock that Postgres lets go of when its holder dies.

Must not know: what a pass does.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, text

_TRY = text("SELECT pg_try_advisory_lock(hashtextextended('slowwave.consolidate ' || :scope, 0))")
_TRY_FOR_TRANSACTION = text("SELECT pg_try_advisory_xact_lock(hashtextextended('slowwave.consolidate ' || :scope, 0))")
_LET_GO = text("SELECT pg_advisory_unlock(hashtextextended('slowwave.consolidate ' || :scope, 0))")


@contextmanager
def scope_lock(engine: Engine, scope_id: int) -> Iterator[bool]:
    """Give whether the scope is ours for the time of the block. False: another pass is at it.

    Held by a connection of its own, with no transaction open on it.
    """
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        ours: bool = connection.execute(_TRY, {"scope": str(scope_id)}).scalar_one()
        try:
            yield ours
        finally:
            if ours:
                connection.execute(_LET_GO, {"scope": str(scope_id)})


def lock_scope(connection: Connection, scope_id: int) -> bool:
    """Keep passes off the scope until the connection's transaction ends. False: one is at it."""
    ours: bool = connection.execute(_TRY_FOR_TRANSACTION, {"scope": str(scope_id)}).scalar_one()
    return ours
