"""The rows of maintenance jobs: due jobs, claims, dead runs, and the end of a run.

Every transaction that writes to a job and its run locks the job first, so that two transactions can't deadlock.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, time, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, or_, select, text, update
from sqlalchemy.sql.elements import KeyedColumnElement

from slowwave_server.domain.schedule import InvalidSchedule, Schedule, compute_next_due, is_beyond_a_period
from slowwave_server.models import MaintenanceJob, MaintenanceRun
from slowwave_server.services.runs.store import Run, RunKind, start_run

log = logging.getLogger(__name__)

KINDS: Mapping[str, RunKind] = {"consolidate_light": "light", "consolidate_deep": "deep"}
"""What runs of these job types are called; all others are "other"."""
MAX_DEATHS = 3
"""After this many dead runs in a row, no process takes over the job; it waits for its next scheduled time."""
LONGEST_LEASE = timedelta(hours=1)
"""No lease is longer. One that ends later was given by a clock that has been set back since."""
DIED = "its lease ran out: the process that ran it died, or could not reach Postgres"


@dataclass(frozen=True, slots=True)
class Job:
    """A maintenance job as its row describes it. details: settings of its type, such as llm_command."""

    id: str
    job_type: str
    cadence: str
    interval_minutes: int | None
    weekday: int | None
    window_start: time | None
    window_end: time | None
    time_zone: str
    next_due_at: datetime | None
    last_run_at: datetime | None
    last_status: str | None
    last_summary: str | None
    enabled: bool
    details: Mapping[str, Any]

    @property
    def schedule(self) -> Schedule:
        """The job's schedule. Raises InvalidSchedule."""
        return Schedule(**{one.name: getattr(self, one.name) for one in fields(Schedule)})


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job whose run this process owns until the lease ends."""

    job: Job
    run: Run
    started_at: datetime


_COLUMNS: list[KeyedColumnElement[Any]] = [
    getattr(MaintenanceJob, field.name).label(field.name) for field in fields(Job)
]


def read_jobs(connection: Connection) -> list[Job]:
    """All jobs of the installation, by name."""
    rows = connection.execute(select(*_COLUMNS).order_by(MaintenanceJob.id))
    return [Job(**row) for row in rows.mappings()]


def lock_job(connection: Connection, job_id: str, *, wait: bool = False) -> Job | None:
    """Lock and return the job until the transaction ends. None: missing, or (without `wait`) locked elsewhere."""
    query = select(*_COLUMNS).where(MaintenanceJob.id == job_id).with_for_update(skip_locked=not wait)
    row = connection.execute(query).mappings().first()
    return None if row is None else Job(**row)


def any_due(connection: Connection, now: datetime) -> bool:
    """Return True if a tick would find work, by one read of a small index."""
    query = select(MaintenanceJob.id).where(MaintenanceJob.enabled, MaintenanceJob.next_due_at <= now).limit(1)
    return connection.execute(query).first() is not None


def due_jobs(connection: Connection, now: datetime) -> list[str]:
    """Return the due jobs, the longest overdue first."""
    query = (
        select(MaintenanceJob.id)
        .where(MaintenanceJob.enabled, MaintenanceJob.next_due_at <= now)
        .order_by(MaintenanceJob.next_due_at, MaintenanceJob.id)
    )
    return list(connection.execute(query).scalars())


def plan_jobs(connection: Connection, now: datetime) -> None:
    """Give a due time to jobs without one, or with one far ahead because a clock went back; mark invalid schedules."""
    for job in read_jobs(connection):
        if not job.enabled:
            continue
        try:
            if job.next_due_at is None or is_beyond_a_period(job.schedule, job.next_due_at, now):
                _plan(connection, job, now)
        except InvalidSchedule as error:
            log.warning("maintenance job %s: %s", job.id, error)
            _set(connection, job.id, last_status="failed", last_summary=f"no schedule: {error}", updated_at=now)


def _plan(connection: Connection, job: Job, now: datetime) -> None:
    # Make sure that no other process has run or planned it in the meantime.
    unchanged = MaintenanceJob.next_due_at.is_not_distinct_from(job.next_due_at)
    due = compute_next_due(job.schedule, now)
    connection.execute(
        update(MaintenanceJob).where(MaintenanceJob.id == job.id, unchanged).values(next_due_at=due, updated_at=now)
    )


def fail_dead_runs(connection: Connection, now: datetime) -> list[str]:
    """Mark runs with an expired lease as failed. Their jobs are due at once, because their work was not done.

    Return these jobs. A job with MAX_DEATHS dead runs in a row waits for its schedule instead.
    """
    connection.execute(_buried(MaintenanceRun.job_id.is_(None), now))
    dead = select(MaintenanceRun.job_id).where(MaintenanceRun.job_id.is_not(None), *_dead(now)).distinct()
    again = []
    for job_id in connection.execute(dead.order_by(MaintenanceRun.job_id)).scalars():
        # The job is locked: its run is being settled, or another process marks it as dead.
        if lock_job(connection, str(job_id)) is None:
            continue
        if not connection.execute(_buried(MaintenanceRun.job_id == job_id, now)).rowcount:
            continue
        _set(connection, str(job_id), last_status="failed", last_summary=DIED, updated_at=now)
        if not _dies_again_and_again(connection, str(job_id)):
            _set(connection, str(job_id), next_due_at=now)
            again.append(str(job_id))
    return again


def _dead(now: datetime) -> tuple[ColumnElement[bool], ...]:
    over = or_(MaintenanceRun.lease_until <= now, MaintenanceRun.lease_until > now + LONGEST_LEASE)
    return MaintenanceRun.status == "running", over


def _buried(which: ColumnElement[bool], now: datetime) -> Any:
    values = {
        "status": "failed",
        "error": DIED,
        "summary": DIED,
        "stats": MaintenanceRun.stats.op("||")(text("""'{"died": true}'""")),
        "completed_at": now,
        "lease": None,
        "lease_until": None,
    }
    return update(MaintenanceRun).where(which, *_dead(now)).values(**values)


def _dies_again_and_again(connection: Connection, job_id: str) -> bool:
    died = MaintenanceRun.stats.has_key("died")
    latest = select(died).where(MaintenanceRun.job_id == job_id).order_by(MaintenanceRun.id.desc()).limit(MAX_DEATHS)
    found = list(connection.execute(latest).scalars())
    return len(found) == MAX_DEATHS and all(found)


def claim_job(
    connection: Connection,
    job_id: str,
    *,
    now: datetime,
    lease_seconds: float,
    by: str,
    forced: bool = False,
    plan: bool = True,
) -> ClaimedJob | None:
    """Claim a due job, plan its next run and start this one, in the caller's transaction.

    Return None if the job is not due (any more), not enabled, missing, or locked by another transaction. forced: True
    to ignore its due time. plan: False to keep its due time. Raises AlreadyRunning, InvalidSchedule.
    """
    job = lock_job(connection, job_id, wait=forced)
    if job is None:
        return None
    if not forced and not (job.enabled and job.next_due_at is not None and job.next_due_at <= now):
        return None
    due = compute_next_due(job.schedule, now)
    kind = KINDS.get(job.job_type, "other")
    run = start_run(connection, kind=kind, now=now, lease_seconds=lease_seconds, job=job.id, by=by)
    if plan:
        _set(connection, job.id, next_due_at=due, updated_at=now)
    return ClaimedJob(job, run, now)


def settle_job(
    connection: Connection, claim: ClaimedJob, *, status: str, summary: str, now: datetime, again: bool
) -> None:
    """Store on the job how its run ended. again: True if it stopped early, so that the next tick runs it again."""
    _set(
        connection,
        claim.job.id,
        last_run_at=claim.started_at,
        last_status=status,
        last_summary=summary,
        updated_at=now,
        **({"next_due_at": now} if again else {}),
    )


def _set(connection: Connection, job_id: str, **values: Any) -> None:
    connection.execute(
        update(MaintenanceJob).where(MaintenanceJob.id == bindparam("job")).values(**values), {"job": job_id}
    )
