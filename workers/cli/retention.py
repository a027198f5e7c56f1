"""`slowwave retention | curate`: what is removed after a time, and what becomes long-term memory, here and now.

Must not know: SQL, what may go, which notes are worth a line.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.options import OPERATE, Json
from slowwave_server.workers.cli.output import console, one_line, print_json
from slowwave_server.workers.cli.sentences import FOUND, UNAVAILABLE
from slowwave_server.workers.cli.state import operator, shell_of

if TYPE_CHECKING:
    from slowwave_server.services.curation.curate import CurationReport
    from slowwave_server.services.maintenance.scheduler import JobReport


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command(rich_help_panel=OPERATE)(curate)
    app.command(rich_help_panel=OPERATE)(retention)


def curate(
    context: typer.Context,
    scope: Annotated[
        str, typer.Argument(help="An agent's name, or room:NAME, team:NAME.", show_default=False, metavar="SCOPE")
    ],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Make the worthiest notes of a scope long-term memory, a few a pass. Exit 3 if another pass is at it."""
    from slowwave.errors import SlowwaveError
    from slowwave.working import scope_of
    from slowwave_server.services.curation.curate import CurationRules
    from slowwave_server.services.curation.curate import curate as run_pass
    from slowwave_server.services.lookup import find_scope

    kind, name = scope_of(None, scope) if scope.startswith(("room:", "team:")) else scope_of(scope, None)
    shell = shell_of(context)
    with shell.connection() as connection:
        scope_id = find_scope(connection, shell.tenant, kind, name)
    if scope_id is None:
        raise SlowwaveError(f"nothing was ever written to {kind}:{name} of tenant {shell.tenant!r}")
    settings = shell.settings.memory
    rules = CurationRules(settings.auto_flush.curation, settings.consolidation)
    report = run_pass(shell.engine, scope_id, rules=rules, clock=shell.now, by=operator(), dry_run=dry_run)
    if as_json:
        print_json(report)
    else:
        _show(report, dry_run=dry_run)
    if report.state == "busy":
        raise typer.Exit(UNAVAILABLE)


def _show(report: "CurationReport", *, dry_run: bool) -> None:
    from slowwave_server.workers.cli.diff import print_diff

    told = "" if report.run is None or report.state != "completed" else f" (run {report.run})"
    would = "would be: " if dry_run and report.state == "completed" else ""
    console().print(f"curation{told}: {would}{report.summary}", soft_wrap=True)
    print_diff(report.changes)


def retention(
    context: typer.Context,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would go.")] = False,
    as_json: Json = False,
) -> None:
    """Remove what memory.retention says is too old, of all tenants, as its daily job does. Exit 1 if it failed."""
    import socket

    from slowwave.errors import SlowwaveError
    from slowwave_server.services.maintenance.scheduler import Scheduler
    from slowwave_server.services.runs.store import AlreadyRunning
    from slowwave_server.workers.jobs import job_runners

    shell = shell_of(context)
    with shell.connection():
        by = f"{operator()}@{socket.gethostname()} (retention)"
        scheduler = Scheduler(shell.engine, job_runners(), shell.settings, clock=shell.now, by=by)
    try:
        report: JobReport | None = scheduler.run_now("retention", dry_run=dry_run)
    except AlreadyRunning as error:
        raise SlowwaveError(f"{error}: wait for it (`slowwave maintenance status` shows it)") from None
    if report is None:
        raise SlowwaveError("there is no job 'retention'; `slowwave migrate` brings it back")
    if as_json:
        print_json(report)
    else:
        console().print(f"retention: run {report.run} {report.status}: {one_line(report.summary, 500)}", soft_wrap=True)
    if report.status in {"failed", "lost"}:
        raise typer.Exit(FOUND)
