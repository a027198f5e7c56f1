"""Register the backend that the settings name; for mem0 also create its schema and store the model of its vectors."""

from datetime import datetime

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError, OperationalError

from slowwave.errors import InvalidSettings
from slowwave.mem0_backend import identity_of, needs_rows
from slowwave.settings import Settings
from slowwave_server.services.memory_files.backends import MEM0, Change, choose_backend, note_identity

_PREPARE = text("SELECT slowwave.create_mem0_schema()")


def feed_chosen(engine: Engine, settings: Settings, now: datetime, *, anew: bool = True) -> Change:
    """Register the backend in `memory.backend`, and unregister any other: changes are then queued for this one only.

    If mem0 keeps its vectors in this Postgres, the function creates mem0's schema first.

    anew: True for a starting worker and a command. If the embedding model in the settings differs from the stored one,
    store the new model and queue all memories, so that mem0 computes their vectors again. The periodic task of running
    workers passes False, because two workers with different settings would rebuild the vectors in turns for ever.

    Returns the registered and the unregistered backend. Raises InvalidSettings if this Postgres can't hold mem0's
    vectors.
    """
    backend = settings.memory.backend
    if backend == MEM0 and needs_rows(settings):
        _prepare(engine)
    change = choose_backend(engine, backend, now)
    if backend == MEM0 and anew:
        with engine.execution_options(isolation_level="READ COMMITTED").begin() as connection:
            note_identity(connection, identity_of(settings), now)
    return change


def _prepare(engine: Engine) -> None:
    try:
        with engine.execution_options(isolation_level="READ COMMITTED").begin() as connection:
            connection.execute(_PREPARE)
    except OperationalError:
        raise
    except DBAPIError as error:
        raise InvalidSettings(
            "memory.backend is mem0, and its vectors can't stand in this Postgres: install the extension vector there,"
            f" or name another store in memory.mem0.config ({type(error.orig).__name__})"
        ) from error
