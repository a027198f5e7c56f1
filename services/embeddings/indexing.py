"""Make vectors for memories and events in batches, and switch to another model while searches use the old one.

No transaction is open while vectors are made. Over all hosts, only one indexer works at a time, by a lock that Postgres
releases when the holder dies. A second indexer would only store the same vectors again.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from sqlalchemy import Engine, text

from slowwave.embedding import Embedder, EmbeddingFailed
from slowwave_server.services.embeddings import rows, spaces
from slowwave_server.services.embeddings.spaces import Space

log = logging.getLogger(__name__)

READ_AT_ONCE = 1000
Step = Literal["some", "all", "stopped"]

PROBE = "How many numbers has a vector?"
# This many new vectors may make older query plans bad ones.
WORTH_ANALYZING = 200
_LOCK = text("SELECT pg_try_advisory_lock(hashtextextended('slowwave.embeddings', 0))")
_UNLOCK = text("SELECT pg_advisory_unlock(hashtextextended('slowwave.embeddings', 0))")


class Models(Protocol):
    """The embedder of the settings (None: off), and further embedders that can be reached."""

    @property
    def own(self) -> Embedder | None: ...

    def named(self, name: str) -> Embedder | None: ...


@dataclass
class IndexReport:
    """The result of one run of the indexer.

    state: off (no driver), busy (another process is indexing), done (no work is left), more (the time was up).
    memories, events: the number of memories and events that got a vector. refused: the number of texts that the model
    rejects. switched: the model that searches use from now on, if this run completed its vectors.
    """

    state: Literal["off", "busy", "done", "more"]
    memories: int = 0
    events: int = 0
    refused: int = 0
    switched: str | None = None


@dataclass(frozen=True, slots=True)
class Indexing:
    """The collaborators of a run. batch: texts per call of the model; more_time: whether another batch may begin."""

    engine: Engine
    models: Models
    batch: int
    more_time: Callable[[], bool]


def index(run: Indexing) -> IndexReport:
    """Bring vectors up to date. Raises VectorsUnavailable and EmbeddingFailed; vectors stored so far stay."""
    own = run.models.own
    if own is None:
        return IndexReport("off")
    run = replace(run, engine=run.engine.execution_options(isolation_level="READ COMMITTED"))
    with _alone(run.engine) as ours:
        if not ours:
            return IndexReport("busy")
        spaces.require_extension(run.engine)
        space = _space_of(run.engine, own)
        spaces.retire_unwanted(run.engine, space.id)
        report = IndexReport("done")
        _keep_serving_fresh(run, space, report)
        if not _fill(run, space, own, report):
            report.state = "more"
        elif space.state == "building":
            spaces.switch_to(run.engine, space.id)
            report.switched = space.model
        if report.memories + report.events >= WORTH_ANALYZING:
            spaces.analyze(run.engine)
        if run.more_time():
            spaces.remove_retired(run.engine)
    return report


def _keep_serving_fresh(run: Indexing, wanted: Space, report: IndexReport) -> None:
    """Keep the vectors in use current: while another model serves, new texts also get its vectors if it is reachable.
    Otherwise, full-text search finds the new texts.
    """
    with run.engine.connect() as connection:
        others = [s for s in spaces.read_spaces(connection) if s.state == "serving" and s.id != wanted.id]
    for space in others:
        embedder = run.models.named(space.model)
        if embedder is None:
            continue
        try:
            _fill(run, space, embedder, report)
        except EmbeddingFailed as error:
            log.warning("vectors of %s, which serve still, get no company: %s", space.model, error)


def _space_of(engine: Engine, embedder: Embedder) -> Space:
    with engine.connect() as connection:
        for space in spaces.read_spaces(connection):
            if space.model == embedder.name:
                return space
    return spaces.open_space(engine, embedder.name, len(embedder.embed([PROBE])[0]))


def _fill(run: Indexing, space: Space, embedder: Embedder, report: IndexReport) -> bool:
    """Make the missing vectors of the space. Return False if the time was up before all were made."""
    with run.engine.begin() as connection:
        rows.drop_archived(connection, space.id)
    for step in (_memories, _events):
        while True:
            if not run.more_time():
                return False
            did = step(run, space, embedder, report)
            if did == "all":
                break
            if did == "stopped":
                return False
    return True


def _memories(run: Indexing, space: Space, embedder: Embedder, report: IndexReport) -> Step:
    """Make vectors of memories. The search for missing ones scans all memories: large batches make it rare."""
    with run.engine.connect() as connection:
        stale = rows.stale_memories(connection, space.id, max(run.batch, READ_AT_ONCE))
    for begin in range(0, len(stale), run.batch):
        if begin and not run.more_time():
            return "stopped"
        batch = stale[begin : begin + run.batch]
        vectors = _vectors(embedder, [memory.text for memory in batch], space, report)
        with run.engine.begin() as connection:
            kept = rows.keep_memories(connection, space.id, batch, vectors)
        report.memories += kept
        if not kept and _given_up(run, space):
            return "stopped"
    return "some" if stale else "all"


def _events(run: Indexing, space: Space, embedder: Embedder, report: IndexReport) -> Step:
    with run.engine.connect() as connection:
        batch = rows.waiting_events(connection, space.id, run.batch)
    if not batch.until:
        return "all"
    vectors = _vectors(embedder, [passage.text for passage in batch.passages], space, report)
    with run.engine.begin() as connection:
        kept = rows.keep_events(connection, space.id, batch, vectors)
    report.events += kept
    return "stopped" if batch.passages and not kept and _given_up(run, space) else "some"


def _given_up(run: Indexing, space: Space) -> bool:
    """Return True if all vectors were dropped meanwhile: new ones could not be stored, and would be made for ever."""
    with run.engine.connect() as connection:
        return all(other.id != space.id for other in spaces.read_spaces(connection))


def _vectors(embedder: Embedder, texts: Sequence[str], space: Space, report: IndexReport) -> list[list[float] | None]:
    """Return a vector for each text, None for one that the model refuses, so that it delays no others."""
    try:
        vectors: list[list[float] | None] = list(embedder.embed(texts))
    except EmbeddingFailed as error:
        if not error.by_text:
            raise
        # Test whether one text or the endpoint is the cause: if the endpoint refuses everything, this raises, and no
        # text is marked.
        embedder.embed([PROBE])
        vectors = [_one(embedder, said) for said in texts]
        report.refused += vectors.count(None)
    if any(vector is not None and len(vector) != space.dimension for vector in vectors):
        raise EmbeddingFailed(
            f"{embedder.name} makes vectors of another dimension than the {space.dimension} that it made before:"
            " give the new model a name of its own, or run `slowwave backend sync vectors --again`",
            transient=False,
        )
    return vectors


def _one(embedder: Embedder, said: str) -> list[float] | None:
    try:
        return embedder.embed([said])[0]
    except EmbeddingFailed as error:
        if not error.by_text:
            raise
        return None


@contextmanager
def _alone(engine: Engine) -> Iterator[bool]:
    """Try to become the only indexer; yield whether it succeeded. A separate idle connection holds the lock."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        ours = bool(connection.execute(_LOCK).scalar_one())
        try:
            yield ours
        finally:
            if ours:
                connection.execute(_UNLOCK)
