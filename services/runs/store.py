"""Runs: each pass over memories is stored as a run, with its statistics, its end, and a lease while it is running."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import randbits
from typing import Any, Literal
from uuid import UUID, uuid4

from sqlalchemy import Connection, insert, text, update
from sqlalchemy.exc import IntegrityError

from slowwave_server.models import MaintenanceRun
from slowwave_server.services.log_context import bind

RunKind = Literal["working", "light", "deep", "review", "undo", "import", "files", "curation", "other", "rebuild"]
RunEnd = Literal["completed", "failed", "stopped"]
MAX_ERROR_CHARACTERS = 2000
LEASE_SECONDS = 60.0
"""The lease of a run without a job. Runs of jobs have the lease of the settings."""


@dataclass(frozen=True, slots=True)
class Run:
    """A current run. lease: a secret of its holder, which is needed to renew and end the run."""

    id: int
    lease: UUID
    lease_seconds: float


class AlreadyRunning(Exception):
    """The job already has a current run."""


def start_run(
    connection: Connection,
    *,
    kind: RunKind,
    now: datetime,
    lease_seconds: float,
    job: str | None = None,
    scope_id: int | None = None,
    by: str | None = None,
    undoes: int | None = None,
    part_of: int | None = None,
    no_repeat: bool = False,
    dry_run: bool = False,
) -> Run:
    """Begin a run. A job has only one current run: raises AlreadyRunning (the transaction stays usable).

    part_of: the run that starts this one. no_repeat: True for an undo that no pass may reverse. dry_run: True if the
    transaction will be rolled back; the run then gets a random negative number and uses up none.
    """
    lease = uuid4()
    values = {
        "kind": kind,
        "job_id": job,
        "scope_id": scope_id,
        "started_by": by,
        "undoes": undoes,
        "part_of": part_of,
        "no_repeat": no_repeat,
        "lease": lease,
        "lease_until": now + timedelta(seconds=lease_seconds),
        "started_at": now,
    }
    try:
        with connection.begin_nested():
            run_id = _insert_dry(connection, values) if dry_run else _insert(connection, values)
    except IntegrityError as error:
        if "maintenance_runs_running_idx" in str(error.orig):
            raise AlreadyRunning(f"job {job} has a run under way") from None
        raise
    bind(run=run_id)
    return Run(run_id, lease, lease_seconds)


def _insert(connection: Connection, values: Mapping[str, Any]) -> int:
    run_id: int = connection.execute(insert(MaintenanceRun).values(**values).returning(MaintenanceRun.id)).scalar_one()
    return run_id


def _insert_dry(connection: Connection, values: Mapping[str, Any]) -> int:
    run_id = -1 - randbits(62)
    names = ", ".join(values)
    given = ", ".join(f":{name}" for name in values)
    statement = f"INSERT INTO slowwave.maintenance_runs (id, {names}) OVERRIDING SYSTEM VALUE VALUES (:id, {given})"
    connection.execute(text(statement), {"id": run_id, **values})
    return run_id


def renew_run(connection: Connection, run: Run, now: datetime) -> bool:
    """Renew the lease. Return False if the run was taken over or ended, and must stop."""
    until = now + timedelta(seconds=run.lease_seconds)
    return bool(connection.execute(_held(run).values(lease_until=until)).rowcount)


def finish_run(
    connection: Connection,
    run: Run,
    *,
    status: RunEnd | Literal["rolled_back"],
    summary: str,
    stats: Mapping[str, Any],
    now: datetime,
    error: str | None = None,
) -> bool:
    """End a run. Return False if it was taken over in the meantime, so that another process ends it."""
    values = {
        "status": status,
        "summary": summary,
        "stats": dict(stats),
        "error": None if error is None else error[:MAX_ERROR_CHARACTERS],
        "completed_at": now,
        "lease": None,
        "lease_until": None,
    }
    return bool(connection.execute(_held(run).values(**values)).rowcount)


def _held(run: Run) -> Any:
    return update(MaintenanceRun).where(
        MaintenanceRun.id == run.id, MaintenanceRun.status == "running", MaintenanceRun.lease == run.lease
    )
