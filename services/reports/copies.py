"""Report the state of mem0: waiting scopes, their waiting times, failures."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select

from slowwave_server.models import MemoryBackend, OutboxItem, Scope
from slowwave_server.services.memory_files.backends import MEM0, BackendName, mismatch
from slowwave_server.services.memory_files.outbox import undelivered
from slowwave_server.services.reports.backlog import check_backlog
from slowwave_server.services.reports.check import Check, fine, problem

_WAITS = undelivered(MEM0)


@dataclass(frozen=True, slots=True)
class ScopeCopies:
    """One scope in mem0.

    copies: the number of memories that mem0 has or that wait for delivery. waiting: the number of memories that mem0
    must still write or delete; oldest: the enqueue time of the first. attempts, not_before, last_error: data of the
    last delivery, if it failed.
    """

    scope: str
    copies: int
    waiting: int
    oldest: datetime | None
    attempts: int
    not_before: datetime | None
    last_error: str | None


@dataclass(frozen=True, slots=True)
class CopiesReport:
    """The state of mem0 for one tenant.

    backend: the backend in these settings. fed: True if changes are queued for mem0. identity: the model of mem0's
    vectors. problem: a sentence if the settings differ from the active backend.
    """

    backend: str
    fed: bool
    identity: str | None
    problem: str | None
    scopes: tuple[ScopeCopies, ...]


def report_copies(connection: Connection, tenant: str, backend: BackendName, *, limit: int) -> CopiesReport:
    """List all scopes of a tenant with copies in mem0, the longest waiting first."""
    fed = connection.execute(select(MemoryBackend.identity).where(MemoryBackend.name == MEM0)).first()
    oldest = func.min(OutboxItem.queued_at).filter(_WAITS).label("oldest")
    query = (
        select(
            Scope.kind,
            Scope.name,
            func.count().label("copies"),
            func.count().filter(_WAITS).label("waiting"),
            oldest,
            func.coalesce(func.max(OutboxItem.attempts).filter(_WAITS), 0).label("attempts"),
            func.max(OutboxItem.not_before).filter(_WAITS).label("not_before"),
            func.max(OutboxItem.last_error).filter(_WAITS).label("last_error"),
        )
        .join(OutboxItem, OutboxItem.scope_id == Scope.id)
        .where(Scope.tenant == tenant, OutboxItem.backend == MEM0)
        .group_by(Scope.id)
        .order_by(oldest.nulls_last(), Scope.id)
        .limit(limit)
    )
    rows: Iterable[Any] = connection.execute(query)
    scopes = tuple(ScopeCopies(name if kind == "agent" else f"{kind}:{name}", *counts) for kind, name, *counts in rows)
    identity = None if fed is None else fed.identity
    return CopiesReport(backend, fed is not None, identity, mismatch(connection, backend), scopes)


def check_copies(connection: Connection, backend: BackendName, sync_seconds: float, *, now: datetime) -> Check:
    """Check that mem0, if it is the backend, gets deliveries and keeps up. Counts all tenants together."""
    name = "copies in mem0"
    if backend == MEM0 and (said := mismatch(connection, backend)):
        return problem(name, "backend-mismatch", said)
    if (late := check_backlog(connection, MEM0, name, sync_seconds, now=now)) is not None:
        return late
    if backend != MEM0:
        return fine(name, f"memory.backend is {backend}: nothing is delivered to mem0")
    return fine(name, "every change of a memory is in mem0")
