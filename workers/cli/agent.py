"""`slowwave agent clock | export | import`: when an agent's day begins; a whole agent with its history, as one file.

Must not know: tables, how a file looks.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.days import clock
from slowwave_server.workers.cli.options import OPERATE, Agent, Json
from slowwave_server.workers.cli.output import console, print_json, print_rows, safe
from slowwave_server.workers.cli.state import operator, shell_of

if TYPE_CHECKING:
    from collections.abc import Mapping

app = typer.Typer(help="One agent: its clock; all of it as one file.", no_args_is_help=True)
app.command()(clock)


def register(parent: typer.Typer) -> None:
    """Add these commands."""
    parent.add_typer(app, name="agent", rich_help_panel=OPERATE)


@app.command()
def export(
    context: typer.Context,
    agent: Agent,
    file: Annotated[Path, typer.Argument(help="The file to write; one of that name is replaced.", show_default=False)],
    *,
    as_json: Json = False,
) -> None:
    """Write an agent with its sessions, events, memories, sources, ledger and days to a file.

    What it wrote in rooms and teams is not part of it.
    """
    from slowwave_server.services.access.audit_log import note_act
    from slowwave_server.services.moving_in.agent_export import export_agent

    if file.is_dir() or not file.parent.is_dir():
        raise typer.BadParameter(f"{file} must be a file in a folder that exists")
    shell = shell_of(context)
    shell.check_database()
    try:
        report = export_agent(shell.engine, shell.tenant, agent, file, now=shell.now())
    except OSError as error:
        raise typer.BadParameter(f"{file} can't be written: {error}") from None
    with shell.engine.begin() as connection:
        what = f"all of agent:{agent}"
        note_act(connection, "export", operator(), what, tenant=shell.tenant, via="shell", now=shell.now())
    if as_json:
        print_json(report)
        return
    _tell(report.rows)
    out = console()
    out.print(safe(f"Agent {agent} is in {file}, {report.size_bytes:,} bytes."), soft_wrap=True)
    if report.elsewhere:
        out.print(f"{report.elsewhere:,} of its sessions belong to rooms or teams and are not part of it.")


@app.command("import")
def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A file that `slowwave agent export` wrote.", show_default=False)],
    *,
    name: Annotated[str | None, typer.Option("--as", help="Under another name.")] = None,
    as_json: Json = False,
) -> None:
    """Read an agent from a file, as a whole or not at all. The same file again changes nothing."""
    from slowwave_server.services.moving_in.agent_import import import_agent

    if not file.is_file():
        raise typer.BadParameter(f"there is no file {file}")
    shell = shell_of(context)
    shell.check_database()
    try:
        report = import_agent(shell.engine, shell.tenant, file, name=name, by=operator(), now=shell.now())
    except OSError as error:
        raise typer.BadParameter(f"{file} can't be read: {error}") from None
    if as_json:
        print_json(report)
        return
    out = console()
    if report.run is None:
        out.print(
            safe(f"This file was imported into agent {report.agent} before: nothing was changed."), soft_wrap=True
        )
        return
    _tell(report.rows)
    said = f"Agent {report.agent} is here, run {report.run}; `slowwave forget --agent {report.agent}` takes it back."
    out.print(safe(said), soft_wrap=True)
    if report.renamed:
        out.print("This installation has some of its ids already: all of its memories have new ones.")


def _tell(rows: "Mapping[str, int]") -> None:
    print_rows(console(), [(f"{number:>9,}", name.replace("_", " ")) for name, number in rows.items()])
