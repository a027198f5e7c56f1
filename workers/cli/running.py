"""`slowwave up | demo`, `slowwave config env`: the whole stack on this machine."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from slowwave_server.workers.cli.options import Json
from slowwave_server.workers.cli.output import print_json


def _default_data() -> Path:
    from slowwave_server.workers.stack.data_folder import default_data_folder

    return default_data_folder()


Data = Annotated[
    Path,
    typer.Option(
        help="The folder of all data, kept between starts.",
        default_factory=_default_data,
        show_default="~/.local/share/slowwave; for root /var/lib/slowwave",
    ),
]
Port = Annotated[
    int, typer.Option(min=0, max=65_535, metavar="PORT", help="0 reuses the last port or picks a free one.")
]


def up(
    *,
    data: Data,
    postgres_port: Port = 0,
    valkey_port: Port = 0,
    flower_port: Port = 0,
    gateway_port: Port = 0,
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="Processes of the main worker; default: one per core.")
    ] = None,
    no_flower: Annotated[bool, typer.Option("--no-flower", help="Do not start Flower.")] = False,
    no_gateway: Annotated[bool, typer.Option("--no-gateway", help="Do not start the HTTP gateway.")] = False,
    flower_auth: Annotated[
        str | None,
        typer.Option(metavar="USER:PASSWORD", help="The login of Flower; default: generated once, then kept."),
    ] = None,
) -> None:
    """Run Postgres, Valkey, workers, beat, Flower and the HTTP gateway until Ctrl-C."""
    from rich.console import Console

    from slowwave_server.workers.stack.stack import StackOptions
    from slowwave_server.workers.stack.up import run_stack

    options = StackOptions(
        data=data.expanduser(),
        postgres_port=postgres_port,
        valkey_port=valkey_port,
        flower_port=flower_port,
        gateway_port=gateway_port,
        concurrency=concurrency,
        flower=not no_flower,
        flower_auth=flower_auth,
        gateway=not no_gateway,
    )
    raise typer.Exit(run_stack(options, Console()))


def env(
    *,
    data: Data,
    export: Annotated[bool, typer.Option("--export", help="Print export commands for eval in a shell.")] = False,
    as_json: Json = False,
) -> None:
    """Print the variables that connect programs to a running stack, as NAME=value lines.

    In a shell: eval "$(slowwave config env --export)". If no stack is ready, stdout is empty and the exit code is 3.
    """
    import shlex

    from slowwave_server.workers.stack.environment import environment_of

    lines = environment_of(data.expanduser())
    if as_json:
        print_json(dict(line.split("=", 1) for line in lines))
    elif export:
        for name, _, value in (line.partition("=") for line in lines):
            sys.stdout.write(f"export {name}={shlex.quote(value)}\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in lines)


def demo(
    *,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also print the output of the servers.")] = False,
) -> None:
    """Show two weeks of an agent's memory in fast motion, on servers in a temporary folder, which it removes."""
    from datetime import UTC, datetime

    from rich.console import Console

    from slowwave_server.workers.demo import run_demo

    raise typer.Exit(run_demo(Console(), now=datetime.now(UTC), verbose=verbose))
