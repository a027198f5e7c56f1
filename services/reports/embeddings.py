"""Report the state of vectors: the model that searches use, the model whose vectors are being made, and texts without
vectors.

The counts cover the whole database, because vectors concern operators only; no text is read.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, text

from slowwave_server.services.embeddings.rows import count_left
from slowwave_server.services.embeddings.spaces import extension_version, read_spaces

_COUNTS = text(
    "SELECT (SELECT count(*) FROM slowwave.memory_vectors v WHERE v.space_id = :space AND v.embedding IS NOT NULL),"
    " (SELECT count(*) FROM slowwave.passage_vectors v WHERE v.space_id = :space AND v.embedding IS NOT NULL),"
    " (SELECT count(*) FROM slowwave.memory_vectors v WHERE v.space_id = :space AND v.embedding IS NULL)"
    " + (SELECT count(*) FROM slowwave.passage_vectors v WHERE v.space_id = :space AND v.embedding IS NULL)"
)


@dataclass(frozen=True, slots=True)
class SpaceReport:
    """The vectors of one model. state: serving or building. memories, events: the numbers with a vector; refused: the
    number of texts that the model refuses. memories_waiting, sessions_waiting: the numbers of memories without a
    vector, and of sessions with such events.
    """

    model: str
    dimension: int
    state: str
    memories: int
    events: int
    refused: int
    memories_waiting: int
    sessions_waiting: int


@dataclass(frozen=True, slots=True)
class EmbeddingsReport:
    """The state of vectors. model: of the settings, None if off; extension: the version of `vector`, or None."""

    model: str | None
    extension: str | None
    spaces: tuple[SpaceReport, ...]


def read_embeddings(connection: Connection, model: str | None) -> EmbeddingsReport:
    """Count the vectors. model: the name of the settings' embedder."""
    spaces = []
    for space in read_spaces(connection):
        memories, events, refused = connection.execute(_COUNTS, {"space": space.id}).one()
        waiting = count_left(connection, space.id)
        spaces.append(
            SpaceReport(space.model, space.dimension, space.state, memories, events, refused, waiting[0], waiting[1])
        )
    return EmbeddingsReport(model, extension_version(connection), tuple(spaces))
