"""One pass over a scope at a time, over all hosts: a lock that Postgres lets go of when its holder dies.

Must not know: what a pass does.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, text

_TRY = text("SELECT pg_try_advisory_lock(hashtextextended('slowwave.consolidate ' || :scope, 0))")
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
