"""`slowwave memory export | import`: memories as Markdown files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.diff import print_diff
from slowwave_server.workers.cli.options import DryRun, Json
from slowwave_server.workers.cli.output import console, print_json, print_rows, safe, styled
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.cli.state import operator, shell_of
from slowwave_server.workers.shared.failures import FOUND
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.services.memory_files.export import ExportReport
    from slowwave_server.services.memory_files.importing import ImportReport

PROBLEMS_TOLD = 20
KINDS = ("agent", "room", "team")
ScopeName = Annotated[
    str, typer.Argument(metavar="SCOPE", help="An agent's name, room:NAME or team:NAME.", show_default=False)
]


def export(
    context: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="[SCOPE] DIR", help="An agent's name, room:NAME or team:NAME; and a folder.", show_default=False
        ),
    ],
    *,
    every: Annotated[bool, typer.Option("--all", help="Export every scope of the tenant; give DIR alone.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite exported lines that somebody edited.")] = False,
    as_json: Json = False,
) -> None:
    """Write memories to a folder as Markdown: MEMORY.md, and one file per day.

    Unchanged files are not touched, and lines that people added stay. Exit 1 if a scope was not exported because
    somebody edited exported lines.
    """
    from slowwave_server.services.memory_files.export import EditedLines, scopes_of

    if len(names) != (1 if every else 2):
        raise typer.BadParameter("give SCOPE and DIR, or --all and DIR")
    shell = shell_of(context)
    folder = _folder(shell, Path(names[-1]))
    with shell.connection() as connection:
        scopes = scopes_of(connection, shell.tenant) if every else [_scope(names[0])]
    reports: list[ExportReport] = []
    refused: list[str] = []
    for kind, name in scopes:
        try:
            reports.append(_exported(shell, kind, name, folder, force=force))
        except EditedLines as edited:
            refused.append(str(edited))
    for sentence in refused:
        complain(sentence)
    if as_json:
        print_json({"exported": reports, "refused": refused})
    else:
        _tell(reports)
    if refused:
        raise typer.Exit(FOUND)


def import_(
    context: typer.Context,
    scope: ScopeName,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder with the files.", show_default=False)],
    *,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Import the memory files of a folder into a scope, as a run that can be undone.

    Lines that an export wrote keep their ids and attributes; other bullet points become facts. Importing the same
    files again changes nothing. Exit 1 if a line could not be read.
    """
    from slowwave_server.services.memory_files.importing import Target, import_scope

    kind, name = _scope(scope)
    if not folder.is_dir():
        raise typer.BadParameter(f"the folder {folder} does not exist")
    shell = shell_of(context)
    shell.check_database()
    report = import_scope(
        shell.engine,
        Target(shell.tenant, kind, name),
        folder,
        days=shell.settings.memory.days,
        by=operator(),
        now=shell.now(),
        dry_run=dry_run,
    )
    if as_json:
        print_json({"dry_run": dry_run, "read": report})
    else:
        _tell_import(report, dry_run=dry_run)
    if report.problems:
        raise typer.Exit(FOUND)


def _scope(scope: str) -> tuple[str, str]:
    """Split SCOPE into kind and name; `agent:NAME` names an agent whose name contains a colon. Raises InvalidName."""
    from slowwave.identity import check_name

    kind, colon, name = scope.partition(":")
    if not colon or kind not in KINDS:
        kind, name = "agent", scope
    return kind, check_name(kind, name)


def _exported(shell: Shell, kind: str, name: str, folder: Path, *, force: bool) -> "ExportReport":
    from slowwave_server.services.access.audit_log import note_act
    from slowwave_server.services.memory_files.export import export_scope

    append_only = shell.settings.memory.auto_flush.curation.append_only
    report = export_scope(shell.engine, shell.tenant, kind, name, folder, append_only=append_only, force=force)
    what = f"the memory of {kind}:{name}"
    with shell.engine.begin() as connection:
        note_act(connection, "export", operator(), what, tenant=shell.tenant, via="shell", now=shell.now())
    return report


def _folder(shell: Shell, folder: Path) -> Path:
    """Refuse the folder of the file backend: Slowwave reads edits back from there."""
    root = shell.settings.memory.files.root.expanduser()
    if shell.settings.memory.backend == "file" and folder.resolve() == root.resolve():
        raise typer.BadParameter(
            f"memory.backend: file keeps its files in {folder}; copy them from there, or name another folder"
        )
    return folder


def _tell(reports: "list[ExportReport]") -> None:
    out = console()
    if not reports:
        out.print("Nothing was exported.")
        return
    rows = []
    for report in reports:
        parts = [pluralize(report.memories, "memory", "memories"), f"{report.curated:,} of them curated"]
        parts += [pluralize(report.days, "day"), pluralize(len(report.written), "file") + " written"]
        parts += [f"{report.unchanged:,} as before"] if report.unchanged else []
        parts += [f"{len(report.removed):,} removed"] if report.removed else []
        rows.append((styled(report.scope, "bold"), styled(", ".join(parts)), styled(str(report.folder), "dim")))
    print_rows(out, rows)


def _tell_import(report: "ImportReport", *, dry_run: bool) -> None:
    out = console()
    if dry_run:
        print_diff(report.changes, total=report.added + report.repeated)
    would = "would be: " if dry_run else ""
    out.print(safe(f"{would}{report.summary}."), soft_wrap=True)
    if report.reworded:
        words = pluralize(report.reworded, "line")
        out.print(f"{words} of known memories have another text in these files; both texts stay.", soft_wrap=True)
    if report.summaries_kept:
        out.print(f"{pluralize(report.summaries_kept, 'day')} kept the summary of this installation.", soft_wrap=True)
    if report.run is not None:
        out.print(f"This was run {report.run}; `slowwave run undo {report.run}` reverses it.", soft_wrap=True)
    elif not dry_run:
        out.print("Nothing was changed.")
    for problem in report.problems[:PROBLEMS_TOLD]:
        complain(f"{problem.path} line {problem.line}: {problem.what}")
    if len(report.problems) > PROBLEMS_TOLD:
        complain(f"and {len(report.problems) - PROBLEMS_TOLD:,} lines more; --json lists them all")
