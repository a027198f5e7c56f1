"""Read runs and jobs of maintenance: current and ended runs with results and durations, late or failing jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, ScalarSelect, func, select

from slowwave.settings import Maintenance
from slowwave_server.domain.health_limits import FAILED_RUNS
from slowwave_server.models import MaintenanceJob, MaintenanceRun, WorkingItem
from slowwave_server.services.reports.metrics import COUNTED, By
from slowwave_server.services.reports.metrics.sessions import age

NEWEST_RUNS = 1000
RECENT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Job:
    """An enabled job. due: for a job without a due time, its creation. alive_until: the end of its current run's lease.
    failures: the number of failed runs since another result, at most FAILED_RUNS.
    """

    id: str
    due: datetime
    last_summary: str | None
    alive_until: datetime | None
    failures: int

    def is_alive(self, now: datetime) -> bool:
        """Return True if a process runs the job."""
        return self.alive_until is not None and self.alive_until > now


@dataclass(frozen=True, slots=True)
class Runs:
    """Figures of all tenants. recent_run_seconds: seconds by kind and statistic (mean, max)."""

    runs_running: By
    recent_runs: By
    recent_run_seconds: By
    job_late_seconds: By
    job_failures: By
    job_tick_seconds: float
    working_notes_open: int


def read_jobs(connection: Connection) -> Sequence[Job]:
    """Return all enabled jobs, by name."""
    alive_until = (
        select(func.max(MaintenanceRun.lease_until))
        .where(MaintenanceRun.job_id == MaintenanceJob.id, MaintenanceRun.status == "running")
        .scalar_subquery()
    )
    rows = connection.execute(
        select(
            MaintenanceJob.id,
            func.coalesce(MaintenanceJob.next_due_at, MaintenanceJob.created_at),
            MaintenanceJob.last_summary,
            alive_until,
            _failures(),
        )
        .where(MaintenanceJob.enabled)
        .order_by(MaintenanceJob.id)
    )
    return [Job(*row) for row in rows]


def _failures() -> ScalarSelect[int]:
    """Count a job's failed runs since its last other result, at most FAILED_RUNS."""
    latest = (
        select(MaintenanceRun.id, (MaintenanceRun.status == "failed").label("failed"))
        .where(MaintenanceRun.job_id == MaintenanceJob.id, MaintenanceRun.status != "running")
        .order_by(MaintenanceRun.id.desc())
        .limit(FAILED_RUNS)
        .correlate(MaintenanceJob)
        .subquery()
    )
    unbroken = select(func.bool_and(latest.c.failed).over(order_by=latest.c.id.desc()).label("so_far")).subquery()
    return select(func.count()).where(unbroken.c.so_far).scalar_subquery()


def read_runs(connection: Connection, rules: Maintenance, *, now: datetime) -> Runs:
    """Read the figures of the NEWEST_RUNS latest runs."""
    found = _newest(connection, now)
    seconds: dict[tuple[str, ...], float] = {}
    for kind in sorted({row.kind for row in found if row.ended}):
        its = [row for row in found if row.kind == kind]
        seconds[kind, "mean"] = float(sum(row.took for row in its)) / sum(row.ended for row in its)
        seconds[kind, "max"] = float(max(row.longest for row in its))
    jobs = read_jobs(connection)
    notes = select(WorkingItem.id).where(WorkingItem.outcome.is_(None)).limit(COUNTED).subquery()
    return Runs(
        runs_running={(row.kind,): row.running for row in found if row.status == "running"},
        recent_runs={(row.kind, row.status): row.ended for row in found if row.ended},
        recent_run_seconds=seconds,
        job_late_seconds={(job.id,): 0.0 if job.is_alive(now) else age(job.due, now) for job in jobs},
        job_failures={(job.id,): job.failures for job in jobs},
        job_tick_seconds=rules.tick_seconds,
        working_notes_open=connection.execute(select(func.count()).select_from(notes)).scalar_one(),
    )


def _newest(connection: Connection, now: datetime) -> Sequence[Row[*tuple[Any, ...]]]:
    """Count the NEWEST_RUNS newest runs, by kind and status.

    A row has the number of runs under way (with a valid lease), the number that ended within RECENT, and the total and
    the longest duration of the ended runs, in seconds.
    """
    newest = (
        select(
            MaintenanceRun.kind,
            MaintenanceRun.status,
            (MaintenanceRun.lease_until > now).label("alive"),
            (MaintenanceRun.completed_at > now - RECENT).label("ended"),
            func.extract("epoch", MaintenanceRun.completed_at - MaintenanceRun.started_at).label("took"),
        )
        .order_by(MaintenanceRun.id.desc())
        .limit(NEWEST_RUNS)
        .subquery()
    )
    query = select(
        newest.c.kind,
        newest.c.status,
        func.count().filter(newest.c.status == "running", newest.c.alive).label("running"),
        func.count().filter(newest.c.ended).label("ended"),
        func.coalesce(func.sum(newest.c.took).filter(newest.c.ended), 0).label("took"),
        func.coalesce(func.max(newest.c.took).filter(newest.c.ended), 0).label("longest"),
    ).group_by(newest.c.kind, newest.c.status)
    return connection.execute(query).all()
