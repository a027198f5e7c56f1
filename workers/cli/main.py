"""The program `slowwave`: its tree of commands and its global options."""

from typing import Annotated, Any

import typer

from slowwave_server.workers.cli.groups import SETTINGS, Commands
from slowwave_server.workers.cli.sentences import EXIT_CODES, SentenceGroup
from slowwave_server.workers.cli.tree import TREE
from slowwave_server.workers.shared.shell import Shell


class Program(SentenceGroup):
    """The commands at the top."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": Commands(TREE)})


app = typer.Typer(
    name="slowwave", cls=Program, no_args_is_help=True, pretty_exceptions_enable=False, context_settings=SETTINGS
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"slowwave {version('slowwave-server')}")
        raise typer.Exit


@app.callback(epilog=EXIT_CODES)
def slowwave(
    context: typer.Context,
    tenant: Annotated[str | None, typer.Option(help="The tenant; default: the tenant of the settings.")] = None,
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Background memory consolidation for AI agents."""
    shell = context.obj = Shell(tenant)
    context.call_on_close(shell.close)


def main() -> None:
    """The entry point of the script `slowwave`."""
    app()
