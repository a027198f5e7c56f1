"""`slowwave memory edit | archive`: one memory changed by a person."""

from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.deciding import print_run, who
from slowwave_server.workers.cli.diff import print_diff
from slowwave_server.workers.cli.options import By, Json, MemoryId
from slowwave_server.workers.cli.output import print_json
from slowwave_server.workers.cli.state import shell_of

if TYPE_CHECKING:
    from slowwave_server.services.corrections import Correction

Revision = Annotated[int | None, typer.Option(help="Refuse if the memory has changed since this revision.")]


def edit(
    context: typer.Context,
    memory: MemoryId,
    text: Annotated[str, typer.Argument(help="The new text.", show_default=False)],
    *,
    revision: Revision = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Replace the text of a memory. The old memory is archived; the new one keeps its dates and its importance."""
    from slowwave_server.services.corrections import correct

    shell = shell_of(context)
    done = correct(
        shell.engine, shell.tenant, shell.memory_id(memory), text, revision=revision, by=who(by), now=shell.now()
    )
    _print(done, as_json=as_json)


def archive(
    context: typer.Context, memory: MemoryId, *, revision: Revision = None, by: By = None, as_json: Json = False
) -> None:
    """Archive a memory: no search or context returns it, and `memory show` still shows it."""
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
