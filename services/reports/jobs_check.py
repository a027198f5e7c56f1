"""Check that maintenance jobs run on time and complete."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from slowwave.settings import Maintenance
from slowwave_server.domain.health_limits import FAILED_RUNS, LATE_TICKS
from slowwave_server.domain.spoken_time import duration_words, pluralize
from slowwave_server.services.reports.check import Check, fine, problem
from slowwave_server.services.reports.metrics.runs import read_jobs
from slowwave_server.services.reports.metrics.sessions import age


def check_maintenance(connection: Connection, rules: Maintenance, *, now: datetime) -> Check:
    """Check for jobs that are late by more than two ticks without a run, or that fail repeatedly."""
    longest = timedelta(seconds=LATE_TICKS * rules.tick_seconds)
    jobs = read_jobs(connection)
    idle = [job for job in jobs if not job.is_alive(now)]
    late = [f"{job.id} for {duration_words(age(job.due, now))}" for job in idle if job.due < now - longest]
    if late:
        return problem("maintenance", "jobs-late", f"due and not run: {', '.join(late)}")
    failing = [f"{job.id} ({job.last_summary})" for job in idle if job.failures == FAILED_RUNS]
    if failing:
        return problem("maintenance", "jobs-fail", f"failed {FAILED_RUNS} times in a row: {', '.join(failing)}")
    return fine("maintenance", f"{pluralize(len(idle), 'job')}; none is late or keeps failing")
