"""Find scopes that need a delivery: waiting outbox rows, and files that a person changed.

The search covers all tenants, as sweeps do. It reads only names, sizes and times of files.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, select

from slowwave.identity import SessionRef
from slowwave_server.domain.memory_files import scope_folder
from slowwave_server.models import Agent, FileState, OutboxItem, Scope, Session
from slowwave_server.services.memory_files.backends import FILE
from slowwave_server.services.memory_files.disk import Disk, Stamp
from slowwave_server.services.memory_files.outbox import HELD, WaitingScope, undelivered, waiting_scopes, waits


def due_scopes(connection: Connection, root: Path, disk: Disk, *, limit: int, now: datetime) -> list[WaitingScope]:
    """Return due scopes of all tenants: first those with waiting outbox rows, the longest waiting first."""
    waiting = {scope.id: scope for scope in waiting_scopes(connection, FILE, limit=limit, now=now)}
    backing_off = set(
        connection.execute(
            select(OutboxItem.scope_id)
            .distinct()
            .where(
                undelivered(FILE),
                OutboxItem.not_before > now,
                OutboxItem.last_error != HELD,
            )
        ).scalars()
    )
    for scope in _changed(connection, root, disk):
        if len(waiting) >= limit:
            break
        if scope.id not in backing_off:
            waiting.setdefault(scope.id, scope)
    return list(waiting.values())


def waiting_for_session(connection: Connection, ref: SessionRef, backend: str, *, now: datetime) -> WaitingScope | None:
    """Return the scope to which a session writes, if the scope has rows for the backend that are due."""
    query = (
        select(Scope.id, Scope.tenant, Scope.kind, Scope.name)
        .join(Session, Session.scope_id == Scope.id)
        .join(Agent, Agent.id == Session.agent_id)
        .join(OutboxItem, OutboxItem.scope_id == Scope.id)
        .where(
            Agent.tenant == ref.tenant,
            Agent.name == ref.agent,
            Session.name == ref.session,
            waits(backend, now),
        )
        .limit(1)
    )
    row = connection.execute(query).mappings().first()
    return None if row is None else WaitingScope(**row)


def _changed(connection: Connection, root: Path, disk: Disk) -> Iterator[WaitingScope]:
    if not root.is_dir():
        return
    seen: dict[int, dict[str, Stamp]] = {}
    columns = (FileState.scope_id, FileState.path, FileState.size, FileState.modified_ns)
    for file in connection.execute(select(*columns)):
        seen.setdefault(file.scope_id, {})[file.path] = Stamp(file.size, file.modified_ns)
    for row in connection.execute(select(Scope.id, Scope.tenant, Scope.kind, Scope.name).order_by(Scope.id)):
        folder = root / scope_folder(row.tenant, row.kind, row.name)
        known = seen.get(row.id, {})
        if _has_changed(folder, known, disk):
            yield WaitingScope(row.id, row.tenant, row.kind, row.name)


def _has_changed(folder: Path, known: Mapping[str, Stamp], disk: Disk) -> bool:
    """Return True if a file has changed, or was written so recently that its timestamp proves nothing."""
    try:
        paths = set(disk.paths(folder))
        return paths != set(known) or any(
            not known[path].modified_ns or disk.stamp(folder / path) != known[path] for path in paths
        )
    except OSError:
        # An unreadable folder delays no other scope: its own delivery fails and reports the reason.
        return True
