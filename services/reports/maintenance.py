"""Report the status of the maintenance jobs: the due time and the last run of each job, and the current runs.

Jobs belong to the installation, not to a tenant; their summaries contain counts, but name no memory.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from slowwave_server.models import MaintenanceRun
from slowwave_server.services.maintenance.config import WEEKDAYS
from slowwave_server.services.maintenance.jobs import Job, read_jobs

RUNS_LISTED = 100


@dataclass(frozen=True, slots=True)
class Running:
    """A current run. alive: False after its lease; the next tick marks it as dead and takes its job over."""

    id: int
    job: str | None
    kind: str
    started_at: datetime
    started_by: str | None
    lease_until: datetime | None
    alive: bool


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job. late_seconds: how long it has been due (0: not yet due; None: it has no due time, or is disabled)."""

    job: Job
    late_seconds: float | None


@dataclass(frozen=True, slots=True)
class MaintenanceStatus:
    """All jobs by name, and the current runs, including those of no job, oldest first."""

    jobs: tuple[JobStatus, ...]
    running: tuple[Running, ...]


def read_maintenance(connection: Connection, now: datetime) -> MaintenanceStatus:
    """Read the status in two queries."""
    under_way = (
        select(MaintenanceRun)
        .with_only_columns(*(getattr(MaintenanceRun, name) for name in _RUN_COLUMNS))
        .where(MaintenanceRun.status == "running")
        .order_by(MaintenanceRun.id)
        .limit(RUNS_LISTED)
    )
    jobs = tuple(JobStatus(job, _late(job, now)) for job in read_jobs(connection))
    return MaintenanceStatus(jobs, tuple(_running(row, now) for row in connection.execute(under_way)))


def job_document(job: Job) -> dict[str, Any]:
    """Return a job as JSON, with the words that its configuration accepts."""
    return {
        "id": job.id,
        "job_type": job.job_type,
        "cadence": job.cadence,
        "interval_minutes": job.interval_minutes,
        "weekday": None if job.weekday is None else WEEKDAYS[job.weekday],
        "window_start": None if job.window_start is None else job.window_start.isoformat("minutes"),
        "window_end": None if job.window_end is None else job.window_end.isoformat("minutes"),
        "time_zone": job.time_zone,
        "next_due_at": job.next_due_at,
        "last_run_at": job.last_run_at,
        "last_status": job.last_status,
        "last_summary": job.last_summary,
        "enabled": job.enabled,
        "metadata": dict(job.details),
    }


def when_words(job: Job) -> str:
    """Return a job's schedule in words: "daily 10:00-11:00 (UTC)", "weekly on sunday from 03:00 …"."""
    if job.cadence == "interval":
        words = _every(job.interval_minutes or 0)
    elif job.weekday is not None:
        words = f"weekly on {WEEKDAYS[job.weekday]}"
    else:
        words = job.cadence
    start, end = (None if at is None else at.isoformat("minutes") for at in (job.window_start, job.window_end))
    window = f" {start or '00:00'}-{end}" if end else f" from {start}" if start else ""
    return f"{words}{window} ({job.time_zone})"


def _every(minutes: int) -> str:
    """Return an interval in its largest whole unit: "every 12 hours", "every minute"."""
    unit, size = next(
        (name, size) for name, size in (("day", 1440), ("hour", 60), ("minute", 1)) if minutes % size == 0
    )
    count = minutes // size
    return f"every {unit}" if count == 1 else f"every {count} {unit}s"


_RUN_COLUMNS = ("id", "job_id", "kind", "started_at", "started_by", "lease_until")


def _running(row: Row[tuple[object, ...]], now: datetime) -> Running:
    alive = row.lease_until is not None and row.lease_until > now
    return Running(row.id, row.job_id, row.kind, row.started_at, row.started_by, row.lease_until, alive)


def _late(job: Job, now: datetime) -> float | None:
    if job.next_due_at is None or not job.enabled:
        return None
    return max(0.0, (now - job.next_due_at).total_seconds())
