"""Report the state of mem0: waiting scopes, their waiting times, failures."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, case, func, select

from slowwave_server.models import MemoryBackend, OutboxItem, Scope
from slowwave_server.services.memory_files.backends import MEM0, BackendName, mismatch
from slowwave_server.services.memory_files.outbox import Backlog, undelivered
from slowwave_server.services.reports.backlog import check_backlog
from slowwave_server.services.reports.check import Check, fine, problem

_WAITS = undelivered(MEM0)


@dataclass(frozen=True, slots=True)
class ScopeCopies(Backlog):
    """One scope in mem0. copies: the number of memories that mem0 has or that wait for delivery."""

    scope: str
    copies: int


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
            case((Scope.kind == "agent", Scope.name), else_=Scope.kind + ":" + Scope.name).label("scope"),
            func.count().filter(_WAITS).label("waiting"),
            oldest,
            func.coalesce(func.max(OutboxItem.attempts).filter(_WAITS), 0).label("attempts"),
            func.max(OutboxItem.not_before).filter(_WAITS).label("not_before"),
            func.max(OutboxItem.last_error).filter(_WAITS).label("last_error"),
            func.count().label("copies"),
        )
        .join(OutboxItem, OutboxItem.scope_id == Scope.id)
        .where(Scope.tenant == tenant, OutboxItem.backend == MEM0)
        .group_by(Scope.id)
        .order_by(oldest.nulls_last(), Scope.id)
        .limit(limit)
    )
    scopes = tuple(ScopeCopies(**row) for row in connection.execute(query).mappings())
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
