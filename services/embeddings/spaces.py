"""Manage spaces of vectors: one for each embedding model. Searches use the serving space.

(none) ──▶ serving    the first model: searches use its vectors from the first one on
building ──▶ serving        another model has all its vectors: it takes over in one transaction
serving, building ──▶ retired ──▶ (gone)      removed in small steps, then its index
"""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

LEAST_EXTENSION = (0, 8)
REMOVED_AT_ONCE = 2000
State = Literal["building", "serving"]

_SPACES = text(
    "SELECT s.id, s.model, s.dimension, s.state FROM slowwave.vector_spaces s WHERE s.state <> 'retired' ORDER BY s.id"
)
_OPEN = text(
    "INSERT INTO slowwave.vector_spaces (model, dimension, state) SELECT :model, :dimension, CASE WHEN EXISTS ("
    "SELECT FROM slowwave.vector_spaces WHERE state = 'serving') THEN 'building' ELSE 'serving' END"
    " RETURNING id, model, dimension, state"
)
_RETIRE = text("UPDATE slowwave.vector_spaces SET state = 'retired' WHERE state = :state AND id <> :keep")
_SERVE = text("UPDATE slowwave.vector_spaces SET state = 'serving' WHERE id = :keep AND state = 'building'")
_VERSION = text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")


class VectorsUnavailable(Exception):
    """This Postgres can't compare vectors; the message names the missing extension. All else works without it."""


@dataclass(frozen=True, slots=True)
class Space:
    """The vectors of one model: the model's name, the dimension of a vector, and whether searches use them."""

    id: int
    model: str
    dimension: int
    state: State


def extension_version(connection: Connection) -> str | None:
    """Return the version of the extension `vector` in this database, or None."""
    version: str | None = connection.execute(_VERSION).scalar()
    return version


def require_extension(engine: Engine) -> None:
    """Create the extension `vector` in a version that finds the nearest within a scope. Raises VectorsUnavailable."""
    with engine.connect() as connection:
        version = extension_version(connection)
    if version is None:
        try:
            with engine.begin() as connection:
                connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
                version = str(extension_version(connection))
        except DBAPIError as error:
            raise VectorsUnavailable(
                "this Postgres has no extension vector, so search uses words alone: install pgvector 0.8 or newer,"
                " and let a superuser run CREATE EXTENSION vector in this database"
            ) from error
    if tuple(int(part) for part in version.split(".")[:2]) < LEAST_EXTENSION:
        raise VectorsUnavailable(
            f"the extension vector is {version} here, and 0.8 is the oldest that can be used:"
            " install a newer pgvector and run ALTER EXTENSION vector UPDATE"
        )


def read_spaces(connection: Connection) -> list[Space]:
    """Return all spaces that are not being removed, oldest first."""
    return [Space(*row) for row in connection.execute(_SPACES)]


def open_space(engine: Engine, model: str, dimension: int) -> Space:
    """Create the space of a model, with its index. It serves at once if no other space does."""
    with engine.begin() as connection:
        space = Space(*connection.execute(_OPEN, {"model": model, "dimension": dimension}).one())
        connection.execute(
            text("SELECT slowwave.create_vector_index(:id, :dimension)"), {"id": space.id, "dimension": dimension}
        )
    return space


def retire_unwanted(engine: Engine, keep: int) -> None:
    """Retire spaces that were begun for a model that is no longer wanted."""
    with engine.begin() as connection:
        connection.execute(_RETIRE, {"state": "building", "keep": keep})


def retire_all(engine: Engine) -> None:
    """Delete all vectors. Until new ones exist, searches use only words."""
    with engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.vector_spaces SET state = 'retired' WHERE state <> 'retired'"))


def switch_to(engine: Engine, space: int) -> None:
    """Let searches use this space from now on, and retire the previous one."""
    with engine.begin() as connection:
        connection.execute(_RETIRE, {"state": "serving", "keep": space})
        connection.execute(_SERVE, {"keep": space})


def analyze(engine: Engine) -> None:
    """Update the planner's statistics of vectors; with old statistics, a search takes twice as long."""
    with engine.begin() as connection:
        connection.execute(text("ANALYZE slowwave.memory_vectors, slowwave.passage_vectors"))


def remove_retired(engine: Engine) -> int:
    """Delete the vectors of retired spaces, a few rows per transaction; return the number of deleted spaces.

    Their indexes go last, one statement each, without waiting for searches to end.
    """
    with engine.connect() as connection:
        retired = connection.execute(
            text("SELECT s.id FROM slowwave.vector_spaces s WHERE s.state = 'retired'")
        ).scalars()
        gone = list(retired)
    for space in gone:
        for table in ("memory_vectors", "passage_vectors", "vector_progress"):
            _remove_rows(engine, table, space)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for table in ("memory_vectors", "passage_vectors"):
                name = f"{table}_space_{space}_idx"
                connection.execute(text(f"DROP INDEX CONCURRENTLY IF EXISTS slowwave.{name}"))
            connection.execute(text("DELETE FROM slowwave.vector_spaces WHERE id = :space"), {"space": space})
    return len(gone)


def _remove_rows(engine: Engine, table: str, space: int) -> None:
    # `table` is one of the three names above; all other values are bound.
    some = text(
        f"DELETE FROM slowwave.{table} WHERE ctid = ANY (ARRAY("
        f"SELECT ctid FROM slowwave.{table} WHERE space_id = :space LIMIT :some))"
    )
    while True:
        with engine.begin() as connection:
            if not connection.execute(some, {"space": space, "some": REMOVED_AT_ONCE}).rowcount:
                return
