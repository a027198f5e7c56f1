"""What tests of the scheduler share: a host with jobs of its own, runners that count, a clock that is moved by hand."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Engine, delete, insert, select

from slowwave.settings import Maintenance, MemorySettings, Settings
from slowwave_server.models import MaintenanceJob, MaintenanceRun
from slowwave_server.services.maintenance.scheduler import JobContext, JobOutcome, JobRunner, Scheduler
from tests.support.flushing import Clock

# A Tuesday.
START = datetime(2026, 6, 2, 8, 0, tzinfo=UTC)


@dataclass
class Counting:
    """A runner that notes each run, and does in its midst what it is told to."""

    midst: Callable[[JobContext], None] = lambda _context: None
    outcome: JobOutcome = field(default_factory=lambda: JobOutcome("looked at 3 memories", {"seen": 3}))
    runs: list[tuple[str, datetime]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, context: JobContext) -> JobOutcome:
        with self.lock:
            self.runs.append((context.job.id, context.clock()))
        self.midst(context)
        return self.outcome


class Host:
    """A computer that is awake when a test says so. Several of them may share one database."""

    def __init__(
        self, engine: Engine, *, at: datetime = START, lease_seconds: float = 60, **runners: JobRunner
    ) -> None:
        self.engine = engine
        self.clock = Clock(at)
        self.counting = Counting()
        self.runners: dict[str, JobRunner] = {"count": self.counting, **runners}
        rules = Maintenance(lease_seconds=lease_seconds)
        self.settings = Settings(memory=MemorySettings(maintenance=rules))

    @property
    def scheduler(self) -> Scheduler:
        return Scheduler(self.engine, self.runners, self.settings, clock=self.clock, by="a test")

    @property
    def runs(self) -> list[tuple[str, datetime]]:
        return self.counting.runs

    def tick(self, at: datetime | None = None) -> list[tuple[str, str]]:
        """One tick at this moment; answers (job, status) of what it ran."""
        if at is not None:
            self.clock.now = at
        return [(report.job, report.status) for report in self.scheduler.tick().ran]

    def only(self, *jobs: dict[str, Any]) -> None:
        """Have these jobs and no others, and no runs."""
        with self.engine.begin() as connection:
            connection.execute(delete(MaintenanceRun))
            connection.execute(delete(MaintenanceJob))
            for job in jobs:
                connection.execute(insert(MaintenanceJob).values(**({"job_type": "count", "cadence": "daily"} | job)))

    def job(self, job_id: str) -> Any:
        with self.engine.connect() as connection:
            return connection.execute(select(MaintenanceJob.__table__).where(MaintenanceJob.id == job_id)).one()

    def past(self, job_id: str | None = None) -> list[Any]:
        """The runs, the oldest first."""
        query = select(MaintenanceRun.__table__).order_by(MaintenanceRun.id)
        with self.engine.connect() as connection:
            return [run for run in connection.execute(query) if job_id is None or run.job_id == job_id]

    def walk(self, until: datetime, *, every: timedelta, off: Callable[[datetime], bool] = lambda _now: False) -> None:
        """Let the time pass with a tick every so often, except while the host is off."""
        while self.clock.now < until:
            if not off(self.clock.now):
                self.tick()
            self.clock.now += every


def june(day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(2026, 6, day, hour, minute, tzinfo=UTC)
