"""`slowwave job list | run | tick | config | daemon`: periodic jobs."""

import socket
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave_server.domain.spoken_time import duration_words, format_time, pluralize
from slowwave_server.workers.cli.options import DryRun, Json
from slowwave_server.workers.cli.output import (
    console,
    json_text,
    one_line,
    print_json,
    print_rows,
    safe,
    styled,
)
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.state import operator, shell_of
from slowwave_server.workers.shared.failures import FOUND
from slowwave_server.workers.shared.json_document import document
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from datetime import datetime

    from slowwave_server.services.maintenance.config import Configured
    from slowwave_server.services.maintenance.scheduler import JobReport, Scheduler, TickReport
    from slowwave_server.services.reports.maintenance import JobStatus, MaintenanceStatus, Running

JobName = Annotated[
    str, typer.Argument(metavar="JOB", help="The job's name, as `job list` shows it.", show_default=False)
]
Weekday = Annotated[
    str | None,
    typer.Option(metavar="DAY", help="For the cadence weekly: monday to sunday; none: a week after the last run."),
]
WindowEnd = Annotated[
    str | None,
    typer.Option(help="The end of the window in local time, exclusive; may be after midnight; none: no end."),
]


def list_jobs(context: typer.Context, *, as_json: Json = False) -> None:
    """List jobs: schedule, next due time, last run and its result, and what runs now."""
    from slowwave_server.services.reports.maintenance import job_document, read_maintenance

    shell = shell_of(context)
    now = shell.now()
    with shell.connection() as connection:
        found = read_maintenance(connection, now)
    if as_json:
        jobs = [job_document(standing.job) | {"late_seconds": standing.late_seconds} for standing in found.jobs]
        print_json({"jobs": jobs, "running": found.running})
    else:
        _show(found, now)


def _show(found: "MaintenanceStatus", now: "datetime") -> None:
    out = console()
    head = ("job", "schedule", "next due", "last run", "result")
    rows = [tuple(styled(title, "dim") for title in head), *(_row(standing, now) for standing in found.jobs)]
    print_rows(out, rows) if found.jobs else out.print("There are no jobs.")
    for run in found.running:
        out.print(styled(_running(run, now)), soft_wrap=True)


def _row(standing: "JobStatus", now: "datetime") -> tuple[Any, ...]:
    from slowwave_server.services.reports.maintenance import when_words

    job, late = standing.job, standing.late_seconds
    if not job.enabled:
        due = "disabled"
    elif job.next_due_at is None:
        due = "at the next tick"
    else:
        due = f"now, for {duration_words(late)}" if late else format_time(job.next_due_at, now)
    last = "never" if job.last_run_at is None else format_time(job.last_run_at, now)
    went = ": ".join(part for part in (job.last_status, job.last_summary) if part)
    return styled(job.id, "bold"), when_words(job), due, last, one_line(went, 300)


def _running(run: "Running", now: "datetime") -> str:
    what = f"run {run.id} of {run.job}" if run.job else f"run {run.id} ({run.kind})"
    since = duration_words((now - run.started_at).total_seconds())
    if not run.alive or run.lease_until is None:
        return f"{what}, started {since} ago, has died: the next tick marks it as failed and runs the job again."
    who = f", started by {run.started_by}" if run.started_by else ""
    return f"{what} has been running for {since}{who}."


def tick(context: typer.Context, *, as_json: Json = False) -> None:
    """Run all due jobs now, in this process, one after the other. Exit 1 if a job failed."""
    shell = shell_of(context)
    with shell.connection():
        scheduler = _scheduler(shell, "tick")
    with progress("running due jobs"):
        report = scheduler.tick()
    if as_json:
        print_json(report)
    else:
        console().print(_tick_words(report), soft_wrap=True)
    if _has_failed(report):
        raise typer.Exit(FOUND)


def _tick_words(report: "TickReport") -> str:
    parts = [f"{job} was started again: its last run had died." for job in report.taken_over]
    parts += [_run_words(run) for run in report.ran]
    parts += [f"{job} failed to start: {one_line(error, 300)}" for job, error in report.errors.items()]
    return "\n".join(parts) or "Nothing is due."


def _run_words(run: "JobReport") -> str:
    took = duration_words(run.seconds)
    return f"{run.job}: run {run.run} {run.status} in {took}: {one_line(run.summary, 500)}"


def _has_failed(report: "TickReport") -> bool:
    return bool(report.errors) or any(run.status in {"failed", "lost"} for run in report.ran)


def run(
    context: typer.Context,
    job: JobName,
    *,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Run one job now, in this process, whether or not it is due or enabled. Exit 1 if it failed."""
    from slowwave.errors import SlowwaveError
    from slowwave_server.domain.schedule import InvalidSchedule
    from slowwave_server.services.maintenance.config import InvalidJob, find_job
    from slowwave_server.services.runs.store import AlreadyRunning

    shell = shell_of(context)
    with shell.connection() as connection:
        find_job(connection, job)
    try:
        with progress(f"running {job}"):
            report = _scheduler(shell, "run").run_now(job, dry_run=dry_run)
    except AlreadyRunning as error:
        raise SlowwaveError(f"{error}: wait until it ends (`slowwave job list` shows it)") from None
    except InvalidSchedule as error:
        raise InvalidJob(f"{error}; correct it with `slowwave job config {job}`") from None
    if report is None:
        raise SlowwaveError(f"the job {job!r} was removed in the meantime")
    if as_json:
        print_json(report)
    else:
        console().print(_run_words(report), soft_wrap=True)
    if report.status in {"failed", "lost"}:
        raise typer.Exit(FOUND)


def config(
    context: typer.Context,
    job: JobName,
    *,
    cadence: Annotated[
        str | None, typer.Option(metavar="daily|weekly|interval", help="How often the job runs.")
    ] = None,
    interval_minutes: Annotated[
        int | None, typer.Option(min=1, metavar="MINUTES", help="The interval of the cadence interval.")
    ] = None,
    weekday: Weekday = None,
    window_start: Annotated[
        str | None, typer.Option(help="The start of the window in local time; none: midnight.")
    ] = None,
    window_end: WindowEnd = None,
    time_zone: Annotated[
        str | None, typer.Option(help="The time zone of the window: an IANA name, such as Europe/Berlin.")
    ] = None,
    enabled: Annotated[bool | None, typer.Option("--enable/--disable", help="Whether ticks run the job.")] = None,
    llm_command: Annotated[
        str | None, typer.Option(help="The command that answers the prompts of this job; none: that of the settings.")
    ] = None,
    recompute_next: Annotated[
        bool, typer.Option("--recompute-next", help="Compute the next due time again, from now.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show a job, or change its schedule and settings with options."""
    from slowwave_server.services.maintenance.config import Wish, configure
    from slowwave_server.services.reports.maintenance import job_document

    shell = shell_of(context)
    wish = Wish(cadence, interval_minutes, weekday, window_start, window_end, time_zone, enabled, llm_command)
    with shell.connection() as connection:
        made = configure(connection, job, wish, recompute=recompute_next, now=shell.now())
        connection.commit()
    if as_json:
        print_json(job_document(made.job) | {"changed": sorted(made.changed)})
    else:
        _show_config(made, shell.now())


def _show_config(made: "Configured", now: "datetime") -> None:
    from slowwave_server.services.reports.maintenance import when_words

    job, out = made.job, console()
    due = "not planned yet" if job.next_due_at is None else format_time(job.next_due_at, now)
    rows = [("job", f"{job.id} ({job.job_type})"), ("schedule", when_words(job)), ("next due", due)]
    rows += [("enabled", "yes" if job.enabled else "no")]
    rows += [(name, str(value)) for name, value in job.details.items()]
    print_rows(out, rows)
    if made.rescheduled and "next_due_at" not in made.changed and job.next_due_at is not None:
        out.print("The next run keeps its time; --recompute-next computes it from the new schedule.")
    elif not made.changed:
        out.print("Nothing was changed.")


def daemon(
    context: typer.Context,
    *,
    interval_seconds: Annotated[
        float | None,
        typer.Option(min=1.0, metavar="SECONDS", help="Between ticks; default: memory.maintenance.tick_seconds."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document per tick, each on a line.")] = False,
) -> None:
    """Run due jobs at every interval, on a machine without workers and beat.

    SIGTERM or Ctrl-C ends it after the running job; a second signal ends it at once.
    """
    import sys

    from slowwave_server.workers.cli.job_ticks import run_ticks

    shell = shell_of(context)
    interval = interval_seconds or shell.settings.memory.maintenance.tick_seconds

    def tell(report: "TickReport") -> None:
        if as_json:
            line = json_text(document(report))
        else:
            at = report.at.isoformat(timespec="seconds")
            line = f"{at} {pluralize(len(report.ran), 'job')} run. " + safe(" ".join(_tick_words(report).splitlines()))
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    run_ticks(shell, _scheduler(shell, "daemon"), interval_seconds=interval, tell=tell)


def _scheduler(shell: Shell, how: str) -> "Scheduler":
    from slowwave_server.services.maintenance.scheduler import Scheduler
    from slowwave_server.workers.jobs import job_runners

    by = f"{operator()}@{socket.gethostname()} ({how})"
    return Scheduler(shell.engine, job_runners(), shell.settings, clock=shell.now, by=by, build_model=shell.build_model)
