"""The backend that receives copies of memories: the one in the settings of the last started worker."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, Engine, TextClause, select, text, update

from slowwave_server.models import MemoryBackend

FILE = "file"
MEM0 = "mem0"
FED = (FILE, MEM0)
BackendName = Literal["postgres", "file", "mem0"]

_REGISTER = text("SELECT slowwave.register_backend(:name, :now)")
_UNREGISTER = text("SELECT slowwave.unregister_backend(:name)")
_QUEUE_ALL = text("SELECT slowwave.enqueue_all(:name, :now)")
_HOW = {
    FILE: "no worker delivers to the files",
    MEM0: "no worker delivers to mem0",
}


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of the choice of a backend; both are None if nothing changed."""

    registered: str | None = None
    unregistered: str | None = None


def registered(connection: Connection) -> Sequence[str]:
    """Return the registered backends, sorted by name."""
    return connection.execute(select(MemoryBackend.name).order_by(MemoryBackend.name)).scalars().all()


def choose_backend(engine: Engine, backend: BackendName, now: datetime) -> Change:
    """Register the backend of the settings as the only one. For a new backend, queue all live memories once.

    Idempotent. Outbox rows of the former backend are dropped. Its files and copies stay, and are updated if it is
    chosen again.
    """
    engine = engine.execution_options(isolation_level="READ COMMITTED")
    with engine.begin() as connection:
        known = set(registered(connection))
    left = [name for name in known if name != backend and _change(engine, _UNREGISTER, {"name": name})]
    wanted = backend in FED and backend not in known
    new = wanted and _change(engine, _REGISTER, {"name": backend, "now": now})
    return Change(backend if new else None, left[0] if left else None)


def _change(engine: Engine, statement: TextClause, values: dict[str, object]) -> bool:
    with engine.begin() as connection:
        changed: bool = connection.execute(statement, values).scalar_one()
    return changed


def note_identity(connection: Connection, identity: str, now: datetime) -> bool:
    """Store the model of mem0's vectors; if it has changed, enqueue all copies, so that they get new vectors.

    Returns True if the model has changed. Without a registered mem0 the function does nothing.
    """
    which = MemoryBackend.name == MEM0
    row = connection.execute(select(MemoryBackend.identity).where(which).with_for_update()).first()
    if row is None or row.identity == identity:
        return False
    connection.execute(update(MemoryBackend).where(which).values(identity=identity))
    if row.identity is None:
        return False
    connection.execute(_QUEUE_ALL, {"name": MEM0, "now": now})
    return True


def queue_all(connection: Connection, backend: str, now: datetime) -> None:
    """Queue for a backend all live memories again, and all memories of which it may have a copy."""
    connection.execute(_QUEUE_ALL, {"name": backend, "now": now})


def mismatch(connection: Connection, backend: BackendName) -> str | None:
    """Return a warning if these settings name another backend than the active one, or None."""
    fed = set(registered(connection))
    if backend in FED and backend not in fed:
        return (
            f"memory.backend is {backend} here, and {_HOW[backend]}: the worker that started last has another"
            f" setting, or none has started since; `slowwave {_command(backend)} sync` registers the backend"
        )
    if others := sorted(fed - {backend}):
        return (
            f"memory.backend is {backend} here, and the {others[0]} backend is registered by another process: give all"
            " processes the same setting and start the workers again"
        )
    return None


def _command(backend: str) -> str:
    return "files" if backend == FILE else backend
