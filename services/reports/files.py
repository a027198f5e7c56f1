"""Report the state of the file backend: scopes with files, waiting rows, failures, held files."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, func, select

from slowwave_server.domain.memory_files import scope_folder
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.models import FileLine, FileState, OutboxItem, Scope
from slowwave_server.services.memory_files.backends import FILE, MEM0, BackendName, mismatch, registered
from slowwave_server.services.memory_files.outbox import HELD, Backlog, undelivered
from slowwave_server.services.reports.backlog import check_backlog
from slowwave_server.services.reports.check import Check, fine, problem
from slowwave_server.services.reports.metrics.deliveries import files_held


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file that is neither read nor written, with the reason."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class ScopeFiles(Backlog):
    """The files of one scope, and the memories with outdated lines."""

    scope: str
    folder: Path
    files: int
    memories: int
    held: tuple[HeldFile, ...]


@dataclass(frozen=True, slots=True)
class FilesReport:
    """The state of the file backend. fed: changes are queued for files; problem: a sentence if settings differ."""

    backend: str
    fed: bool
    root: Path
    problem: str | None
    scopes: tuple[ScopeFiles, ...]


def report_files(connection: Connection, tenant: str, backend: BackendName, root: Path, *, limit: int) -> FilesReport:
    """List all scopes of a tenant that have files or wait for files, the longest waiting first."""
    return FilesReport(
        backend,
        FILE in registered(connection),
        root,
        mismatch(connection, backend),
        tuple(_scopes(connection, tenant, root, limit)),
    )


def _scopes(connection: Connection, tenant: str, root: Path, limit: int) -> list[ScopeFiles]:
    files = select(FileState.scope_id, func.count().label("files")).group_by(FileState.scope_id).subquery()
    waiting = (
        select(
            OutboxItem.scope_id,
            func.count().label("waiting"),
            func.min(OutboxItem.queued_at).label("oldest"),
            func.max(OutboxItem.attempts).label("attempts"),
            func.max(OutboxItem.not_before).label("not_before"),
            func.max(OutboxItem.last_error).label("last_error"),
        )
        .where(undelivered(FILE))
        .group_by(OutboxItem.scope_id)
        .subquery()
    )
    query = (
        select(Scope.id, Scope.kind, Scope.name, files.c.files, waiting)
        .join(files, files.c.scope_id == Scope.id, isouter=True)
        .join(waiting, waiting.c.scope_id == Scope.id, isouter=True)
        .where(Scope.tenant == tenant, func.coalesce(files.c.files, waiting.c.waiting).is_not(None))
        .order_by(waiting.c.oldest.nulls_last(), Scope.id)
        .limit(limit)
    )
    return [
        ScopeFiles(
            scope=row.name if row.kind == "agent" else f"{row.kind}:{row.name}",
            folder=root / scope_folder(tenant, row.kind, row.name),
            files=row.files or 0,
            memories=_memories(connection, row.id),
            waiting=row.waiting or 0,
            oldest=row.oldest,
            attempts=row.attempts or 0,
            not_before=row.not_before,
            last_error=None if row.last_error == HELD else row.last_error,
            held=_held(connection, row.id),
        )
        for row in connection.execute(query)
    ]


def _memories(connection: Connection, scope_id: int) -> int:
    query = select(func.count(FileLine.memory_id.distinct())).where(FileLine.scope_id == scope_id)
    return connection.execute(query).scalar_one()


def _held(connection: Connection, scope_id: int) -> tuple[HeldFile, ...]:
    query = select(FileState.path, FileState.held).where(FileState.scope_id == scope_id, FileState.held.is_not(None))
    return tuple(HeldFile(row.path, row.held or "") for row in connection.execute(query.order_by(FileState.path)))


def check_files(connection: Connection, backend: BackendName, sync_seconds: float, *, now: datetime) -> Check:
    """Check that the file backend of the settings gets changes, and keeps up. Counts all tenants together."""
    name = "memory files"
    if backend != MEM0 and (said := mismatch(connection, backend)):
        return problem(name, "backend-mismatch", said)
    if backend != FILE:
        return fine(name, f"memory.backend is {backend}: no files are kept")
    if held := files_held(connection):
        return problem(name, "files-held", pluralize(held, "file"))
    if (late := check_backlog(connection, FILE, name, sync_seconds, now=now)) is not None:
        return late
    return fine(name, "every change of a memory is in the files")
