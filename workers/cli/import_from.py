"""`slowwave import from SYSTEM SOURCE`: memories and conversations of another system become those of an agent."""

from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.domain.moving_in.records import System
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.options import By, DryRun, Json, Yes, refuse_question
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, safe, styled
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.cli.state import operator, shell_of
from slowwave_server.workers.shared.failures import FOUND
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.services.moving_in.importing import MovingReport

SourcePlace = Annotated[
    str,
    typer.Argument(help="A file, a zip archive, a folder, or a Postgres URL (mem0, langgraph).", show_default=False),
]
SHOWN = 10


def import_from(
    context: typer.Context,
    system: Annotated[
        System, typer.Argument(help="The system; zep also reads Graphiti, langgraph also reads LangMem.")
    ],
    source: SourcePlace,
    *,
    agent: Annotated[
        str | None,
        typer.Option(help="The agent to import into; claude-code and codex default to one agent per repository."),
    ] = None,
    owner: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only data about this user, group or namespace.")
    ] = None,
    table: Annotated[
        str | None, typer.Option(metavar="NAME", help="The table at a Postgres URL; default: mem0 or store.")
    ] = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Import the data of another system, as a run that can be undone. Shows a preview, and asks for confirmation.

    Memories keep their text, times and ids; conversations are recorded and processed like all others. Importing the
    same source again adds nothing. Exit 1 if an entry could not be read.
    """
    refuse_question(as_json=as_json, yes=yes, dry_run=dry_run)
    shell = shell_of(context)
    shell.check_database()
    asked = (system, source, agent, owner, table)
    by = by or operator()
    if not yes:
        preview = _move(shell, *asked, by=by, dry_run=True)
        _tell(preview, as_json=as_json and dry_run)
        if dry_run:
            _end(preview)
            return
        typer.confirm("Import it?", abort=True)
    report = _move(shell, *asked, by=by, dry_run=False)
    _tell(report, as_json=as_json)
    _end(report)


def _move(
    shell: Shell,
    system: System,
    given: str,
    agent: str | None,
    owner: str | None,
    table: str | None,
    *,
    by: str,
    dry_run: bool,
) -> "MovingReport":
    from zipfile import BadZipFile

    from slowwave.store import Store
    from slowwave_server.services.moving_in.importing import move_in
    from slowwave_server.services.moving_in.reading import Source
    from slowwave_server.services.moving_in.runs import Context

    settings = shell.settings
    work = Context(shell.engine, shell.tenant, settings.memory.days, by, shell.now)
    store = Store(settings)
    try:
        with progress("reading" if dry_run else "importing"):
            return move_in(
                work,
                Source(system, given, table, owner),
                agent=agent,
                store=store,
                tools=settings.memory.tools,
                dry_run=dry_run,
            )
    except (OSError, BadZipFile) as error:
        raise typer.BadParameter(f"{given} cannot be read: {error}") from None
    finally:
        store.close()


def _tell(report: "MovingReport", *, as_json: bool) -> None:
    if as_json:
        print_json(report)
        return
    out = console()
    held = [pluralize(report.held[many], one, many) for one, many in _HELD if report.held[many]]
    out.print(styled(f"{report.system} holds {', '.join(held) or 'no data that can be imported'}.", "bold"))
    rows = [(f"{number:>9,}", name) for name, number in report.done.items() if number]
    rows += [(f"{number:>9,}", f"left out: {one_line(reason)}") for reason, number in report.left_out.items()]
    print_rows(out, rows)
    if report.dry_run:
        for kind, sample in report.samples:
            print_rows(out, [(styled(kind, "dim"), one_line(sample))], indent=4)
        if len(report.owners) > 1:
            shown = [f"{one_line(name)} ({number:,})" for name, number in list(report.owners.items())[:SHOWN]]
            out.print(safe(f"They are about: {', '.join(shown)}; --owner selects one."), soft_wrap=True)
    agents = ", ".join(one_line(name) for name in report.agents[:SHOWN])
    if agents:
        out.print(safe(f"{'This would go' if report.dry_run else 'It went'} to: {agents}."), soft_wrap=True)
    for name, run in report.runs.items():
        out.print(safe(f"{name}: run {run}; `slowwave run undo {run}` reverses it."), soft_wrap=True)
    if not report.runs and not report.dry_run:
        out.print("Nothing was changed.")


_HELD = (("memory", "memories"), ("message", "messages"), ("conversation", "conversations"))


def _end(report: "MovingReport") -> None:
    for place, what in report.broken[:SHOWN]:
        complain(f"{place}: {what}")
    if report.broken_count > SHOWN:
        complain(f"and {report.broken_count - SHOWN:,} more entries; --json lists them")
    if report.broken_count:
        raise typer.Exit(FOUND)
