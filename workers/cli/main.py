"""The program `slowwave`: its commands by topic, and what holds for all of them.

Must not know: what a command does.
"""

from typing import Annotated

import typer

from slowwave_server.workers.cli import (
    agent,
    agents,
    audit,
    basics,
    budget,
    compare,
    config,
    conflicts,
    connect,
    console,
    console_users,
    consolidate,
    corrections,
    days,
    dead_letters,
    embeddings,
    evaluate,
    exporter,
    files,
    files_backend,
    finalize,
    forget,
    graph,
    import_from,
    ingest,
    keys,
    maintenance,
    mcp,
    mem0_backend,
    memories,
    names,
    operate,
    quarantine,
    rebuild,
    recall,
    retention,
    review,
    roles,
    running,
    runs,
    serve,
    worker,
)
from slowwave_server.workers.cli.sentences import SentenceGroup
from slowwave_server.workers.cli.state import Shell

app = typer.Typer(
    name="slowwave",
    cls=SentenceGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        basics.version()
        raise typer.Exit


@app.callback(epilog="Exit codes: 0 fine · 1 problems found, or nothing by that name · 2 usage · 3 unavailable or late")
def slowwave(
    context: typer.Context,
    tenant: Annotated[str | None, typer.Option(help="Whose agents; default: the settings' tenant.")] = None,
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Background memory consolidation for AI agents."""
    shell = context.obj = Shell(tenant)
    context.call_on_close(shell.close)


for _module in (
    running,
    worker,
    serve,
    connect,
    ingest,
    import_from,
    recall,
    mcp,
    memories,
    graph,
    days,
    consolidate,
    finalize,
    compare,
    evaluate,
    config,
    operate,
    agent,
    agents,
    budget,
    embeddings,
    maintenance,
    retention,
    exporter,
    basics,
    quarantine,
    dead_letters,
    runs,
    rebuild,
    review,
    conflicts,
    corrections,
    names,
    forget,
    files,
    files_backend,
    mem0_backend,
    roles,
    keys,
    console,
    console_users,
    audit,
):
    _module.register(app)


def main() -> None:
    """The entry point of the script `slowwave`."""
    app()
