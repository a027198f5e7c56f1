"""A lock for one consolidation pass per scope at a time, over all hosts. Postgres releases it when the holder dies."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, text

_TRY = text("SELECT pg_try_advisory_lock(hashtextextended('slowwave.consolidate ' || :scope, 0))")
_TRY_FOR_TRANSACTION = text("SELECT pg_try_advisory_xact_lock(hashtextextended('slowwave.consolidate ' || :scope, 0))")
_LET_GO = text("SELECT pg_advisory_unlock(hashtextextended('slowwave.consolidate ' || :scope, 0))")


@contextmanager
def scope_lock(engine: Engine, scope_id: int) -> Iterator[bool]:
    """Lock the scope for the block on its own connection without a transaction. Yield False if another pass has the
    lock.
    """
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        ours: bool = connection.execute(_TRY, {"scope": str(scope_id)}).scalar_one()
        try:
            yield ours
        finally:
            if ours:
                connection.execute(_LET_GO, {"scope": str(scope_id)})


def lock_scope(connection: Connection, scope_id: int) -> bool:
    """Lock out consolidation passes until the connection's transaction ends. False: a pass has the lock."""
    ours: bool = connection.execute(_TRY_FOR_TRANSACTION, {"scope": str(scope_id)}).scalar_one()
    return ours
