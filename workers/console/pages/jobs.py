"""Maintenance: the due time and last run of each job, and buttons to run or pause a job.

Jobs belong to the installation, so a person who changes them must be allowed to see all tenants.
"""

import logging
import socket
from http import HTTPStatus

from sqlalchemy import Connection
from starlette.responses import Response

from slowwave_server.domain.schedule import InvalidSchedule
from slowwave_server.domain.spoken_time import duration_words
from slowwave_server.services.access.whole_installation import sees_everything
from slowwave_server.services.maintenance.config import Wish, configure, find_job
from slowwave_server.services.maintenance.jobs import Job
from slowwave_server.services.maintenance.scheduler import JobReport, Scheduler
from slowwave_server.services.reports.maintenance import read_maintenance, when_words
from slowwave_server.services.runs.store import AlreadyRunning
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.background import run_in_background
from slowwave_server.workers.console.request import PageError, PageRequest
from slowwave_server.workers.console.routing import Page, changes, reads
from slowwave_server.workers.jobs import job_runners

log = logging.getLogger(__name__)


def status(req: PageRequest) -> Response:
    """Show all jobs and the current runs."""
    with req.reading() as connection:
        found = read_maintenance(connection, req.now)
        whole = sees_everything(connection, req.user)
    when = {standing.job.id: when_words(standing.job) for standing in found.jobs}
    return req.page("jobs.html", found=found, when=when, may_change=whole and req.may("operator"))


def run_now(req: PageRequest) -> Response:
    """Run a job now in this process, whatever its due time, paused or not; in the background if it takes long."""
    with req.reading() as connection:
        job = _job(connection, req)
    dry = req.field("dry_run") == "yes"
    by = f"{req.user.name}@{socket.gethostname()} (console)"
    scheduler = Scheduler(
        req.engine,
        job_runners(),
        req.state.settings,
        clock=req.state.clock,
        by=by,
        build_model=req.shell.build_model,
    )
    try:
        done = run_in_background(f"job {job.id}", lambda: scheduler.run_now(job.id, dry_run=dry))
    except AlreadyRunning:
        sentence = f"The job {job.id} has a run under way"
        raise PageError(HTTPStatus.CONFLICT, sentence, "wait until it has ended: this page shows it") from None
    except InvalidSchedule as error:
        cure = f"correct it with `slowwave job config {job.id}`"
        raise PageError(HTTPStatus.CONFLICT, f"{job.id}: {error}", cure) from None
    if done is None:
        return req.go("/jobs", say=f"{job.id} has begun and goes on: this page shows when it has ended.")
    if done.value is None:
        raise PageError(HTTPStatus.NOT_FOUND, f"the job {job.id} has just been removed")
    return req.go("/jobs", say=_run_words(done.value))


def pause(req: PageRequest) -> Response:
    """Pause the job: no tick runs it any more."""
    return _enable(req, enabled=False, say="{} is paused: no tick runs it until it is resumed.")


def resume(req: PageRequest) -> Response:
    """Resume the job: ticks run it again, by its schedule from now on."""
    return _enable(req, enabled=True, say="{} is run by its schedule again, from now on.")


def _enable(req: PageRequest, *, enabled: bool, say: str) -> Response:
    with req.writing() as connection:
        job = _job(connection, req)
        configure(connection, job.id, Wish(enabled=enabled), recompute=False, now=req.now)
    # A job's row stores no names of persons; the audit log does.
    log.info("maintenance job %s was %s by %s", job.id, "resumed" if enabled else "paused", req.user.name)
    return req.go("/jobs", say=say.format(job.id))


def _job(connection: Connection, req: PageRequest) -> Job:
    """Return the job in the address, if the person may change it. Raises PageError, UnknownName."""
    if not sees_everything(connection, req.user):
        raise PageError(
            HTTPStatus.FORBIDDEN,
            "Maintenance works on the memories of all tenants, and you may see only some of them",
            "ask an operator of all tenants",
        )
    return find_job(connection, req.request.path_params["job"])


def _run_words(run: JobReport) -> str:
    return f"{run.job}: run {run.run} {run.status} in {duration_words(run.seconds)}: {run.summary}"


LINK = Link(
    title="Jobs",
    group="System",
    place=1,
    icon=(
        "M12 8.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM12 3v3M12 18v3M3 12h3M18 12h3"
        "M5.600 5.600l2 2M16.400 16.400l2 2M18.400 5.600l-2 2M7.600 16.400l-2 2"
    ),
    shows="jobs with run, pause and resume",
    key="j",
)
ROUTES: list[Page] = [
    reads("/jobs", status, link=LINK),
    changes("/jobs/{job}/run", run_now, role="operator"),
    changes("/jobs/{job}/pause", pause, role="operator"),
    changes("/jobs/{job}/resume", resume, role="operator"),
]
