"""`slowwave files status | sync`: the files of `memory.backend: file`.

Must not know: SQL, how files are read and written.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.fed_backends import behind, deliver_all, scopes_meant, tell_failure
from slowwave_server.workers.cli.options import OPERATE, Json, Limit, Scope
from slowwave_server.workers.cli.output import console, print_json, print_rows, styled
from slowwave_server.workers.cli.sentences import FOUND, UNAVAILABLE
from slowwave_server.workers.cli.state import Shell, operator, shell_of

if TYPE_CHECKING:
    from slowwave_server.services.memory_files.delivery import DeliveryReport
    from slowwave_server.services.reports.files import ScopeFiles

app = typer.Typer(no_args_is_help=True, help="Memory as files that people edit: status, sync.")


def register(parent: typer.Typer) -> None:
    """Add these commands."""
    parent.add_typer(app, name="files", rich_help_panel=OPERATE)


@app.command()
def status(context: typer.Context, *, limit: Limit = 50, as_json: Json = False) -> None:
    """Show which scopes have files, what waits for them, and what is held back. Exit 1 if something is wrong."""
    from slowwave_server.services.reports.files import report_files

    shell = shell_of(context)
    settings = shell.settings.memory
    with shell.connection() as connection:
        report = report_files(connection, shell.tenant, settings.backend, settings.files.root.expanduser(), limit=limit)
    troubled = report.problem is not None or any(one.held or one.last_error for one in report.scopes)
    if as_json:
        print_json(report)
    else:
        out = console()
        fed = "and changes are queued for files" if report.fed else "and no changes are queued for files"
        out.print(f"memory.backend is {report.backend} here, {fed}.")
        if report.problem is not None:
            out.print(styled(report.problem, "red"), soft_wrap=True)
        for one in report.scopes:
            _show(one)
    if troubled:
        raise typer.Exit(FOUND)


def _show(one: "ScopeFiles") -> None:
    out = console()
    what = f"{pluralize(one.memories, 'memory', 'memories')} in {pluralize(one.files, 'file')}"
    print_rows(out, [(styled(one.scope, "bold"), f"{what}{behind(one)}"), ("", str(one.folder))])
    for held in one.held:
        out.print(styled(f"    {held.path}: {held.why}", "yellow"), soft_wrap=True)
    tell_failure(out, one)


@app.command()
def sync(
    context: typer.Context,
    agent: Annotated[str | None, typer.Argument(help="Whose files; default: all of the tenant.")] = None,
    *,
    scope: Scope = None,
    allow_removals: Annotated[
        bool, typer.Option("--allow-removals", help="Also where a large part of a file's lines is gone at once.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Read hand edits back and write what changed, in this process. Exit 1 if a file is held back."""
    shell = shell_of(context)
    reports = {
        name: _deliver(shell, scope_id, allow_removals=allow_removals)
        for name, scope_id in _scopes(shell, agent, scope).items()
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
    """Deliver until nothing is left; the sums of it."""
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


def _scopes(shell: Shell, agent: str | None, scope: str | None) -> dict[str, int]:
    """The scopes that are meant, by name. Raises UnknownName, and InvalidSettings where there are no files."""
    from slowwave.errors import InvalidSettings

    backend = shell.settings.memory.backend
    if backend != "file":
        raise InvalidSettings(f"memory.backend is {backend} here: there are no files to sync; set it to file")
    return scopes_meant(shell, agent, scope)


def _tell(name: str, report: "DeliveryReport") -> None:
    from slowwave_server.services.memory_files.reading_back import summary

    out = console()
    if report.state == "busy":
        out.print(styled(f"{name}: somebody else is at these files; try again in a moment", "yellow"), soft_wrap=True)
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
