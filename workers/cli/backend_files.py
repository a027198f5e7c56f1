"""The files of `memory.backend: file`: their status, and a sync."""

from typing import TYPE_CHECKING

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.backend_scopes import BackendReport, behind, deliver_all, scopes_to_sync, tell_failure
from slowwave_server.workers.cli.output import console, print_json, print_rows, styled
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.state import operator
from slowwave_server.workers.shared.failures import FOUND, UNAVAILABLE
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.services.memory_files.delivery import DeliveryReport
    from slowwave_server.services.reports.files import ScopeFiles


def read_status(shell: Shell, limit: int) -> BackendReport:
    """Return the scopes with files, their backlog, and the files that are held."""
    from slowwave_server.services.reports.files import report_files

    settings = shell.settings.memory
    with shell.connection() as connection:
        report = report_files(connection, shell.tenant, settings.backend, settings.files.root.expanduser(), limit=limit)
    wrong = report.problem is not None or any(one.held or one.last_error for one in report.scopes)

    def show() -> None:
        out = console()
        fed = "changes are queued for files" if report.fed else "no changes are queued for files"
        out.print(f"files: memory.backend is {report.backend}, and {fed}.")
        if report.problem is not None:
            out.print(styled(report.problem, "red"), soft_wrap=True)
        for one in report.scopes:
            _show(one)

    return BackendReport(report, show, wrong)


def _show(one: "ScopeFiles") -> None:
    out = console()
    what = f"{pluralize(one.memories, 'memory', 'memories')} in {pluralize(one.files, 'file')}"
    print_rows(out, [(styled(one.scope, "bold"), f"{what}{behind(one)}"), ("", str(one.folder))])
    for held in one.held:
        out.print(styled(f"    {held.path}: {held.why}", "yellow"), soft_wrap=True)
    tell_failure(out, one)


def sync(shell: Shell, agent: str | None, scope: str | None, *, allow_removals: bool, as_json: bool) -> None:
    """Read edits back and write changes. Exits with 1 if a file was neither read nor written
    because it is too large or lost too many lines, 3 if a scope failed or is busy.
    """
    with progress("writing files"):
        reports = {
            name: _deliver(shell, scope_id, allow_removals=allow_removals)
            for name, scope_id in scopes_to_sync(shell, agent, scope, backend="file", synced="files").items()
        }
    if as_json:
        print_json(reports)
    else:
        for name, report in reports.items():
            _tell(name, report)
    if any(report.state in {"busy", "failed"} for report in reports.values()):
        raise typer.Exit(UNAVAILABLE)
    if any(report.held for report in reports.values()):
        raise typer.Exit(FOUND)


def _deliver(shell: Shell, scope_id: int, *, allow_removals: bool) -> "DeliveryReport":
    """Deliver until nothing waits. Return the sums."""
    from slowwave_server.services.memory_files.backends import choose_backend
    from slowwave_server.services.memory_files.delivery import FileRules, deliver
    from slowwave_server.services.memory_files.disk import Disk

    settings = shell.settings.memory
    choose_backend(shell.engine, "file", shell.now())
    rules = FileRules(settings.files.root.expanduser(), settings.auto_flush.curation.append_only)
    return deliver_all(
        lambda: deliver(
            shell.engine,
            scope_id,
            rules=rules,
            disk=Disk(),
            now=shell.now(),
            by=operator(),
            allow_removals=allow_removals,
        )
    )


def _tell(name: str, report: "DeliveryReport") -> None:
    from slowwave_server.services.memory_files.reading_back import summary

    out = console()
    if report.state == "busy":
        out.print(styled(f"{name}: another process is writing these files; try again", "yellow"), soft_wrap=True)
        return
    if report.state == "failed":
        out.print(styled(f"{name}: {report.error}", "red"), soft_wrap=True)
        return
    said = f"; {summary(report.counts)} (run {report.run})" if report.run is not None else ""
    out.print(styled(f"{name}: {pluralize(report.written, 'file')} written{said}"), soft_wrap=True)
    for path, why in report.held.items():
        out.print(styled(f"    {path}: {why}", "yellow"), soft_wrap=True)
    for path, number, what in report.notes:
        out.print(styled(f"    {path}, line {number} {what}", "dim"), soft_wrap=True)
