"""Choose the backend from the settings; for mem0 also the place of its rows and the model of its vectors.

Must not know: deliveries, other backends.
"""

from datetime import datetime

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError, OperationalError

from slowwave.errors import InvalidSettings
from slowwave.mem0_backend import identity_of, needs_rows
from slowwave.settings import Settings
from slowwave_server.services.memory_files.backends import MEM0, Change, choose_backend, note_identity

_PREPARE = text("SELECT slowwave.create_mem0_schema()")


def feed_chosen(engine: Engine, settings: Settings, now: datetime, *, anew: bool = True) -> Change:
    """Queue changes for the backend in `memory.backend`, and for no other backend.

    anew: rebuild all vectors if the model changed. Only the caller that starts mem0 sets this flag; otherwise two
    workers with different settings would rebuild in turns for ever.

    Raises InvalidSettings if this Postgres can't hold mem0's rows.
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
