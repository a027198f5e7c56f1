"""`slowwave correct | archive`: one memory in other words, or out of answers, by hand.

Must not know: SQL, what a correction does to memories.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.deciding import By, print_run, who
from slowwave_server.workers.cli.diff import print_diff
from slowwave_server.workers.cli.options import MEND, Json, MemoryId
from slowwave_server.workers.cli.output import print_json
from slowwave_server.workers.cli.state import shell_of

if TYPE_CHECKING:
    from slowwave_server.services.corrections import Correction

Revision = Annotated[int | None, typer.Option(help="Only if nothing has changed it since this revision.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command(rich_help_panel=MEND)(correct)
    app.command(rich_help_panel=MEND)(archive)


def correct(
    context: typer.Context,
    memory: MemoryId,
    text: Annotated[str, typer.Argument(help="What it should say.", show_default=False)],
    *,
    revision: Revision = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Say a memory in other words, by hand; the one before it is archived."""
    from slowwave_server.services.corrections import correct

    shell = shell_of(context)
    done = correct(
        shell.engine, shell.tenant, shell.memory_id(memory), text, revision=revision, by=who(by), now=shell.now()
    )
    _print(done, as_json=as_json)


def archive(
    context: typer.Context, memory: MemoryId, *, revision: Revision = None, by: By = None, as_json: Json = False
) -> None:
    """Take a memory out of all answers; it stays readable."""
    from slowwave_server.services.corrections import withdraw

    shell = shell_of(context)
    done = withdraw(shell.engine, shell.tenant, shell.memory_id(memory), revision=revision, by=who(by), now=shell.now())
    _print(done, as_json=as_json)


def _print(done: "Correction", *, as_json: bool) -> None:
    if as_json:
        print_json(done)
        return
    print_diff(done.changes)
    print_run(done.run)
