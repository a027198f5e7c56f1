"""`slowwave agent export | import`: a whole agent with its history, as one file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.options import Agent, Json
from slowwave_server.workers.cli.output import console, print_json, print_rows, safe
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.state import operator, shell_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def export(
    context: typer.Context,
    agent: Agent,
    file: Annotated[Path, typer.Argument(help="The file to write; an existing file is replaced.", show_default=False)],
    *,
    as_json: Json = False,
) -> None:
    """Write an agent with its sessions, events, memories, sources, ledger and days to a file.

    The file does not contain the agent's conversations in rooms and teams.
    """
    from slowwave_server.services.access.audit_log import note_act
    from slowwave_server.services.moving_in.agent_export import export_agent

    if file.is_dir() or not file.parent.is_dir():
        raise typer.BadParameter(f"FILE must name a file in an existing folder, got {file}")
    shell = shell_of(context)
    shell.check_database()
    try:
        with progress(f"exporting {agent}"):
            report = export_agent(shell.engine, shell.tenant, agent, file, now=shell.now())
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be written: {error}") from None
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
        out.print(f"The file leaves out {report.elsewhere:,} of its sessions, which belong to rooms or teams.")


def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A file that `slowwave agent export` wrote.", show_default=False)],
    *,
    name: Annotated[str | None, typer.Option("--as", metavar="NAME", help="Import the agent under this name.")] = None,
    as_json: Json = False,
) -> None:
    """Read an agent from a file, all of it or nothing. Importing the same file again changes nothing."""
    from slowwave_server.services.moving_in.agent_import import import_agent

    if not file.is_file():
        raise typer.BadParameter(f"the file {file} does not exist")
    shell = shell_of(context)
    shell.check_database()
    try:
        with progress(f"importing {file}"):
            report = import_agent(shell.engine, shell.tenant, file, name=name, by=operator(), now=shell.now())
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be read: {error}") from None
    if as_json:
        print_json(report)
        return
    out = console()
    if report.run is None:
        out.print(
            safe(f"This file was already imported into agent {report.agent}: nothing was changed."), soft_wrap=True
        )
        return
    _tell(report.rows)
    said = f"Agent {report.agent} was imported in run {report.run}; `slowwave agent forget {report.agent}` removes it."
    out.print(safe(said), soft_wrap=True)
    if report.renamed:
        out.print("This installation already has some of its ids: all of its memories got new ids.")


def _tell(rows: "Mapping[str, int]") -> None:
    print_rows(console(), [(f"{number:>9,}", name.replace("_", " ")) for name, number in rows.items()])
