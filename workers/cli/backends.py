"""`slowwave backend status | sync`: the copies of memories as files, in mem0, and as vectors."""

from typing import Annotated, Literal

import typer

from slowwave_server.workers.cli import backend_files, backend_mem0, backend_vectors
from slowwave_server.workers.cli.options import Json, Limit, Scope
from slowwave_server.workers.cli.output import print_json
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import FOUND

Backend = Literal["files", "mem0", "vectors"]
_STATUS = {
    "files": backend_files.read_status,
    "mem0": backend_mem0.read_status,
    "vectors": backend_vectors.read_status,
}


def status(
    context: typer.Context,
    backend: Annotated[Backend | None, typer.Argument(help="Only this backend; default: all.")] = None,
    *,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """Show each backend with its backlog and its last error. Exit 1 if a backend failed or needs a person."""
    shell = shell_of(context)
    found = {name: read(shell, limit) for name, read in _STATUS.items() if backend in {None, name}}
    if as_json:
        reports = {name: report.document for name, report in found.items()}
        print_json(reports if backend is None else reports[backend])
    else:
        for report in found.values():
            report.show()
    if any(report.wrong for report in found.values()):
        raise typer.Exit(FOUND)


def sync(
    context: typer.Context,
    backend: Annotated[Backend, typer.Argument(help="The backend.", show_default=False)],
    agent: Annotated[
        str | None, typer.Argument(help="Only this agent's scope; default: all of the tenant. Not for vectors.")
    ] = None,
    *,
    scope: Scope = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="mem0: write all copies again, for every tenant. vectors: delete all vectors first; until they are"
            " back, search uses words alone.",
        ),
    ] = False,
    allow_removals: Annotated[
        bool, typer.Option("--allow-removals", help="files: accept that a large part of a file's lines was removed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Bring a backend up to date now, in this process.

    files: read edits back and write changes. mem0: write waiting copies. vectors: make missing vectors; after a change
    of the model, switch to its vectors. Exit 1 if a file was neither read nor written because it is
    too large or lost too many lines, 3 if the backend failed or is busy.
    """
    if backend == "vectors" and (agent is not None or scope is not None):
        raise typer.BadParameter("vectors are shared by all tenants: give no agent and no --scope")
    if allow_removals and backend != "files":
        raise typer.BadParameter("--allow-removals is for files")
    if again and backend == "files":
        raise typer.BadParameter("--again is for mem0 and vectors")
    shell = shell_of(context)
    if backend == "files":
        backend_files.sync(shell, agent, scope, allow_removals=allow_removals, as_json=as_json)
    elif backend == "mem0":
        backend_mem0.sync(shell, agent, scope, again=again, as_json=as_json)
    else:
        backend_vectors.sync(shell, again=again, as_json=as_json)
