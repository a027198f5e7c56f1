"""`slowwave embeddings status | reindex`: vectors of memories and events.

Must not know: SQL, how vectors are made.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.options import OPERATE, Json
from slowwave_server.workers.cli.output import console, print_json, print_rows, styled
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.sentences import FOUND, UNAVAILABLE, complain
from slowwave_server.workers.cli.state import Shell, shell_of

if TYPE_CHECKING:
    from slowwave_server.services.embeddings.indexing import IndexReport
    from slowwave_server.services.reports.embeddings import EmbeddingsReport, SpaceReport

OFF = "Vectors are off (memory.embeddings.driver is none): search goes by words."

app = typer.Typer(no_args_is_help=True, help="Vectors for search: status, reindex.")


def register(parent: typer.Typer) -> None:
    """Add these commands."""
    parent.add_typer(app, name="embeddings", rich_help_panel=OPERATE)


@app.command()
def status(context: typer.Context, *, as_json: Json = False) -> None:
    """Show which model's vectors serve, how many there are, and what waits for its own."""
    from slowwave.embedding import Embedders
    from slowwave_server.services.reports.embeddings import read_embeddings

    shell = shell_of(context)
    own = Embedders(shell.settings.memory.embeddings).own
    with shell.connection() as connection:
        found = read_embeddings(connection, own.name if own else None)
    if as_json:
        print_json(found)
    else:
        _show(found)


@app.command()
def reindex(
    context: typer.Context,
    *,
    anew: Annotated[
        bool, typer.Option("--anew", help="Throw all vectors away first; until they are back, search goes by words.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make all vectors that are missing now, instead of some at every tick; of another model, then switch to it."""
    from slowwave.embedding import Embedders, EmbeddingFailed
    from slowwave_server.services.embeddings.indexing import PROBE, Indexing, index
    from slowwave_server.services.embeddings.spaces import VectorsUnavailable, retire_all

    shell = shell_of(context)
    settings = shell.settings.memory.embeddings
    models = Embedders(settings)
    engine = shell.engine
    try:
        if anew and models.own is not None:
            # Vectors that serve go only for a model that answers.
            models.own.embed([PROBE])
            retire_all(engine)
        with progress("making vectors", partial(_how_far, shell, None if models.own is None else models.own.name)):
            report = index(Indexing(engine, models, settings.batch_size, lambda: True))
    except (VectorsUnavailable, EmbeddingFailed) as error:
        complain(f"no more vectors were made: {error}")
        raise typer.Exit(UNAVAILABLE) from None
    if as_json:
        print_json(report)
    else:
        console().print(_words(report))
    if report.state != "done":
        raise typer.Exit(FOUND)


def _how_far(shell: Shell, model: str | None) -> str:
    """How many vectors of the settings' model there are, and what waits for one."""
    from slowwave_server.services.reports.embeddings import read_embeddings

    with shell.engine.connect() as connection:
        spaces = [space for space in read_embeddings(connection, model).spaces if space.model == model]
    return "; ".join(
        f"{pluralize(space.memories, 'memory', 'memories')} and {pluralize(space.events, 'event')} have one; "
        f"waiting: {_waiting(space)}"
        for space in spaces
    )


def _words(report: "IndexReport") -> str:
    if report.state == "off":
        return OFF
    if report.state == "busy":
        return "A worker makes vectors right now: `slowwave embeddings status` shows how far it is."
    made = f"Vectors of {pluralize(report.memories, 'memory', 'memories')} and {pluralize(report.events, 'event')}"
    refused = f"; the model refused {pluralize(report.refused, 'text')}" if report.refused else ""
    switched = f" Search uses {report.switched} from here on." if report.switched else ""
    return f"{made} were made{refused}.{switched}"


def _show(found: "EmbeddingsReport") -> None:
    out = console()
    out.print(styled(found.model or OFF, "bold"))
    if found.extension is None:
        out.print("This Postgres has no extension vector yet; the first run makes it, if it may.")
    if found.spaces:
        head = ("model", "", "numbers", "memories", "events", "refused", "waiting")
        print_rows(out, [tuple(styled(title, "dim") for title in head), *map(_row, found.spaces)], indent=2)


def _row(space: "SpaceReport") -> tuple[str, ...]:
    counts = (f"{n:,}" for n in (space.dimension, space.memories, space.events, space.refused))
    return (space.model, space.state, *counts, _waiting(space))


def _waiting(space: "SpaceReport") -> str:
    waiting = [
        pluralize(count, *names)
        for count, names in (
            (space.memories_waiting, ("memory", "memories")),
            (space.sessions_waiting, ("session", "sessions")),
        )
        if count
    ]
    return " and ".join(waiting) or "nothing"
