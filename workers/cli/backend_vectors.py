"""Vectors of memories and events: their status, and an index run."""

from functools import partial
from typing import TYPE_CHECKING

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.backend_scopes import BackendReport
from slowwave_server.workers.cli.output import console, print_json, print_rows, styled
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.shared.failures import FOUND, UNAVAILABLE
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.services.embeddings.indexing import IndexReport
    from slowwave_server.services.reports.embeddings import EmbeddingsReport, SpaceReport

OFF = "Vectors are off (memory.embeddings.driver is none): search uses words alone."


def read_status(shell: Shell, _limit: int) -> BackendReport:
    """Return the model of the vectors in use, the number of vectors, and the backlog."""
    from slowwave.embedding import Embedders
    from slowwave_server.services.reports.embeddings import read_embeddings

    own = Embedders(shell.settings.memory.embeddings).own
    with shell.connection() as connection:
        found = read_embeddings(connection, own.name if own else None)
    return BackendReport(found, lambda: _show(found), wrong=False)


def sync(shell: Shell, *, again: bool, as_json: bool) -> None:
    """Make all missing vectors, then use those of the settings' model. Exit codes: 1 busy, 3 failed."""
    from slowwave.embedding import Embedders, EmbeddingFailed
    from slowwave_server.services.embeddings.indexing import PROBE, Indexing, index
    from slowwave_server.services.embeddings.spaces import VectorsUnavailable, retire_all

    settings = shell.settings.memory.embeddings
    models = Embedders(settings)
    engine = shell.engine
    try:
        if again and models.own is not None:
            # Vectors in use are deleted only if the new model answers.
            models.own.embed([PROBE])
            retire_all(engine)
        with progress("making vectors", partial(_how_far, shell, None if models.own is None else models.own.name)):
            report = index(Indexing(engine, models, settings.batch_size, lambda: True))
    except (VectorsUnavailable, EmbeddingFailed) as error:
        complain(f"not all vectors were made: {error}")
        raise typer.Exit(UNAVAILABLE) from None
    if as_json:
        print_json(report)
    else:
        console().print(_words(report))
    if report.state != "done":
        raise typer.Exit(FOUND)


def _how_far(shell: Shell, model: str | None) -> str:
    """Count the vectors of the settings' model, and the backlog."""
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
        return "A worker is making vectors now: `slowwave backend status vectors` shows its progress."
    made = f"Vectors of {pluralize(report.memories, 'memory', 'memories')} and {pluralize(report.events, 'event')}"
    refused = f"; the model refused {pluralize(report.refused, 'text')}" if report.refused else ""
    switched = f" Search now uses {report.switched}." if report.switched else ""
    return f"{made} were made{refused}.{switched}"


def _show(found: "EmbeddingsReport") -> None:
    out = console()
    out.print(styled(f"vectors: {found.model}" if found.model else OFF, "bold"))
    if found.extension is None:
        out.print("This Postgres has no extension vector yet; the first run creates it if its login may.")
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
