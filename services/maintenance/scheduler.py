"""The opportunistic scheduler: any running process runs due jobs once, even after a long downtime.

A tick is one check for due jobs. Beat, a starting worker, a write, the command line or a daemon may tick at any time;
two ticks at once are harmless. The transaction that starts a run also advances the due time, computed from now, so a
job that missed ten periods runs once. The job runs outside a transaction, under a lease that a thread renews. If the
lease expires before the run ends, the next tick records this and runs the job again.
"""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from slowwave.postgres_text import clean_text
from slowwave.settings import Settings
from slowwave_server.domain.model_calls import AskModel
from slowwave_server.domain.schedule import InvalidSchedule
from slowwave_server.models.errors import first_line
from slowwave_server.services.maintenance.jobs import (
    ClaimedJob,
    Job,
    claim_job,
    due_jobs,
    fail_dead_runs,
    lock_job,
    plan_jobs,
    read_jobs,
    settle_job,
)
from slowwave_server.services.runs.heartbeat import RunHeartbeat
from slowwave_server.services.runs.store import AlreadyRunning, Run, RunEnd, finish_run

log = logging.getLogger(__name__)

T = TypeVar("T")
Clock = Callable[[], datetime]
BuildModel = Callable[[Settings], AskModel | None]
_LONGEST_SENTENCE = 500
MAX_TIME = timedelta(minutes=45)
"""A job that took so long stops between two pieces of its work; what is left is due at its next run."""


@dataclass(frozen=True, slots=True)
class JobContext:
    """The arguments of a runner, the function that does the work of a job.

    engine: the database; no transaction is open. run: the run's id and lease. job: the job's row (`details` has
    settings such as llm_command). build_model: returns None if no model is configured. dry_run: True to report the
    changes without making them. still_ours: returns False after another process has taken over the job; the runner must
    then stop, and the results of this run are discarded.
    """

    engine: Engine
    run: Run
    job: Job
    settings: Settings
    clock: Clock
    by: str
    dry_run: bool
    still_ours: Callable[[], bool]
    build_model: BuildModel

    def patience(self) -> Callable[[], bool]:
        """Return a function that returns False when another process has the job or the time is up."""
        ends = self.clock() + MAX_TIME
        return lambda: self.still_ours() and self.clock() < ends


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The result of a runner. summary: one sentence. status: "stopped" if the runner decided to end early."""

    summary: str
    stats: Mapping[str, Any] = field(default_factory=dict)
    status: Literal["completed", "stopped"] = "completed"


JobRunner = Callable[[JobContext], JobOutcome]


@dataclass(frozen=True, slots=True)
class JobReport:
    """The end of one run. "lost": its lease expired, and another process has the job."""

    job: str
    run: int
    status: Literal["completed", "stopped", "failed", "lost"]
    summary: str
    started_at: datetime
    seconds: float
    stats: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TickReport:
    """The result of one tick. taken_over: jobs whose last run had died. errors: jobs that could not be started."""

    at: datetime
    ran: tuple[JobReport, ...]
    taken_over: tuple[str, ...]
    errors: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Due:
    """Due jobs. jobs: the due jobs, the longest overdue first; taken_over: those of them whose last run had died."""

    jobs: tuple[str, ...]
    taken_over: tuple[str, ...]


class Scheduler:
    """Finds due jobs and runs them. runners: the functions by job type; by: the caller's name, stored with runs."""

    def __init__(
        self,
        engine: Engine,
        runners: Mapping[str, JobRunner],
        settings: Settings,
        *,
        clock: Clock,
        by: str,
        build_model: BuildModel = lambda _settings: None,
    ) -> None:
        # A claim is a transaction, even if the caller's engine is in autocommit.
        self._engine = engine.execution_options(isolation_level="READ COMMITTED")
        self._runners = runners
        self._settings = settings
        self._clock = clock
        self._by = by
        self._build_model = build_model

    def find_due(self) -> Due:
        """Plan jobs without a due time, mark dead runs as failed, and return due jobs."""
        return _on_a_living_connection(self._find_due)

    def _find_due(self) -> Due:
        now = self._clock()
        # One transaction for each: transactions that lock jobs in different orders would deadlock.
        with self._engine.begin() as connection:
            dead = fail_dead_runs(connection, now)
        with self._engine.begin() as connection:
            plan_jobs(connection, now)
        with self._engine.begin() as connection:
            jobs = due_jobs(connection, now)
        return Due(tuple(jobs), tuple(job for job in dead if job in jobs))

    def tick(self, *, should_stop: Callable[[], bool] = lambda: False) -> TickReport:
        """Run all due jobs in this process, one after the other. If a job fails, the others still run."""
        at, due = self._clock(), self.find_due()
        ran: list[JobReport] = []
        errors: dict[str, str] = {}
        for job in due.jobs:
            if should_stop():
                break
            try:
                report = self.run_if_due(job)
            except DBAPIError as error:
                errors[job] = _sentence(error)
            else:
                ran += [] if report is None else [report]
        return TickReport(at, tuple(ran), due.taken_over, errors)

    def run_if_due(self, job: str) -> JobReport | None:
        """Run a job if it is due and no other process runs it; otherwise return None. Safe to repeat."""
        try:
            claim = _on_a_living_connection(lambda: self._claim(job, forced=False, dry_run=False))
        except (AlreadyRunning, InvalidSchedule) as error:
            claim = None
            log.info("maintenance job %s is not run: %s", job, error)
        return None if claim is None else self._run(claim, dry_run=False)

    def knows(self, job: str) -> bool:
        """Return True if a job has this name."""
        with self._engine.connect() as connection:
            return any(known.id == job for known in read_jobs(connection))

    def run_now(self, job: str, *, dry_run: bool = False) -> JobReport | None:
        """Run a job regardless of its due time, enabled or not. Return None if it does not exist.

        dry_run: True to pass the flag to the runner, and keep the job's due time and its last run unchanged; the run is
        recorded as a dry run. Raises AlreadyRunning, InvalidSchedule.
        """
        claim = self._claim(job, forced=True, dry_run=dry_run)
        return None if claim is None else self._run(claim, dry_run=dry_run)

    def _claim(self, job: str, *, forced: bool, dry_run: bool) -> ClaimedJob | None:
        with self._engine.begin() as connection:
            return claim_job(
                connection,
                job,
                now=self._clock(),
                lease_seconds=self._settings.memory.maintenance.lease_seconds,
                by=self._by,
                forced=forced,
                plan=not dry_run,
            )

    def _run(self, claim: ClaimedJob, *, dry_run: bool) -> JobReport:
        job = claim.job
        error: str | None = None
        try:
            with RunHeartbeat(self._engine, claim.run, self._clock) as heartbeat:
                outcome = self._runner_of(job)(self._context(claim, heartbeat, dry_run=dry_run))
            # if Postgres could not store the result, the run fails here
            json.dumps(dict(outcome.stats), allow_nan=False)
            status: RunEnd = outcome.status
        except Exception as failure:  # noqa: BLE001 - whatever a job raises, the other jobs go on
            error = _sentence(failure)
            status, outcome = "failed", JobOutcome(error)
        except BaseException as end:
            # This process is asked to stop. The work was not done: the next tick, here or elsewhere, runs it again.
            said = f"it was interrupted ({type(end).__name__})"
            self._settle(claim, "failed", JobOutcome(said), said, dry_run=dry_run, again=True)
            raise
        return self._settle(claim, status, outcome, error, dry_run=dry_run)

    def _runner_of(self, job: Job) -> JobRunner:
        runner = self._runners.get(job.job_type)
        if runner is None:
            known = ", ".join(sorted(self._runners)) or "none"
            raise UnknownJobType(f"nothing here runs jobs of the type {job.job_type!r}; known: {known}")
        return runner

    def _context(self, claim: ClaimedJob, heartbeat: RunHeartbeat, *, dry_run: bool) -> JobContext:
        return JobContext(
            engine=self._engine,
            run=claim.run,
            job=claim.job,
            settings=self._settings,
            clock=self._clock,
            by=self._by,
            dry_run=dry_run,
            still_ours=lambda: not heartbeat.lost,
            build_model=self._build_model,
        )

    def _settle(
        self,
        claim: ClaimedJob,
        status: RunEnd,
        outcome: JobOutcome,
        error: str | None,
        *,
        dry_run: bool,
        again: bool = False,
    ) -> JobReport:
        now = self._clock()
        stats = dict(outcome.stats) | ({"dry_run": True} if dry_run else {})
        with self._engine.begin() as connection:
            lock_job(connection, claim.job.id, wait=True)
            ours = finish_run(
                connection, claim.run, status=status, summary=outcome.summary, stats=stats, now=now, error=error
            )
            if ours and not dry_run:
                settle_job(connection, claim, status=status, summary=outcome.summary, now=now, again=again)
        return JobReport(
            claim.job.id,
            claim.run.id,
            status if ours else "lost",
            summary=outcome.summary if ours else "its lease ended, so another process records its result",
            started_at=claim.started_at,
            seconds=(now - claim.started_at).total_seconds(),
            stats=stats,
            error=error,
        )


class UnknownJobType(Exception):
    """This process has no runner for the job's type."""


def _on_a_living_connection(work: Callable[[], T]) -> T:
    """Repeat the work once if the connection was dead: it was idle since the last tick, and Postgres was restarted.

    If a claim was committed nevertheless, another tick takes it over when its lease has expired.
    """
    try:
        return work()
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        return work()


def _sentence(error: Exception) -> str:
    """Return an error's text without SQL statements and parameters, which may contain conversations."""
    if isinstance(error, UnknownJobType):
        return str(error)
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    said, name = clean_text(first_line(error)), type(cause).__name__
    return (name if said == name else f"{name}: {said}")[:_LONGEST_SENTENCE]
