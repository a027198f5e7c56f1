"""Which backends are fed beside Postgres: those of the settings of the worker that started last.

Must not know: how a backend is reached.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, Engine, select, text

from models import MemoryBackend

FILE = "file"
BackendName = Literal["postgres", "file", "mem0"]

_REGISTER = text("SELECT slowwave.register_backend(:name, :now)")
_UNREGISTER = text("SELECT slowwave.unregister_backend(:name)")


@dataclass(frozen=True, slots=True)
class Change:
    """What choosing a backend changed: `registered` or `unregistered` names it; both None: nothing."""

    registered: str | None = None
    unregistered: str | None = None


def registered(connection: Connection) -> Sequence[str]:
    """The backends that are fed, by name."""
    return connection.execute(select(MemoryBackend.name).order_by(MemoryBackend.name)).scalars().all()


def choose_backend(engine: Engine, backend: BackendName, now: datetime) -> Change:
    """Let the backend of the settings be fed, and no other: all live memories are queued for a new one, once.

    Idempotent. What waits for a backend that is left is dropped; its files stay, and are brought up to date when it is
    chosen again.
    """
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
        known = FILE in registered(connection)
    if known == (backend == FILE):
        return Change()
    statement, values = (_REGISTER, {"name": FILE, "now": now}) if backend == FILE else (_UNREGISTER, {"name": FILE})
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
        changed: bool = connection.execute(statement, values).scalar_one()
    if not changed:
        return Change()
    return Change(registered=FILE) if backend == FILE else Change(unregistered=FILE)


def mismatch(connection: Connection, backend: BackendName) -> str | None:
    """What to say where these settings name another backend than the one that is fed; None where they agree."""
    fed = FILE in registered(connection)
    if backend == FILE and not fed:
        return (
            "memory.backend is file here, and no worker feeds the files: the worker that started last has another"
            " setting, or none has started since; `slowwave files sync` registers the backend"
        )
    if backend != FILE and fed:
        return (
            f"memory.backend is {backend} here, and the file backend is registered by another process: give all"
            " processes the same setting and start the workers again"
        )
    return None
