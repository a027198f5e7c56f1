"""Embed a query by the model of the serving vectors. The result is None if the search has to use words only.

The embedding is made before the search takes a connection, because a slow endpoint would hold the connection. It has a
timeout of some seconds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from psycopg import Connection

from slowwave.call_timeout import CallTimedOut, CallTimeout
from slowwave.embedding import Embedder, EmbeddingFailed
from slowwave.offers import ThrottledLog
from slowwave.recall.query_plan import clean_question

T = TypeVar("T")

WAIT_SECONDS = 5.0
REMEMBERED = 64
"""A turn asks the same more than once: its context, then a search."""

_SERVING = "SELECT s.model FROM slowwave.vector_spaces s WHERE s.state = 'serving'"


class Read(Protocol):
    """Runs a function on a connection to Postgres, and returns its result."""

    def __call__(self, work: Callable[[Connection[Any]], T], /) -> T: ...


class Models(Protocol):
    """The embedder of the settings (None: vectors are off), and further embedders that can be reached."""

    @property
    def own(self) -> Embedder | None: ...

    def named(self, name: str) -> Embedder | None: ...


@dataclass(frozen=True, slots=True)
class QuestionVector:
    """A question as a vector. model: the embedder's name."""

    model: str
    vector: list[float]


class Questions:
    """Embeds queries. If that fails, the log says so at most once a minute, and the search uses words only."""

    def __init__(self, models: Models, call_timeout: CallTimeout | None = None) -> None:
        self._models = models
        self._call_timeout = call_timeout or CallTimeout(WAIT_SECONDS)
        self._throttled_log = ThrottledLog()
        # Failures are not cached.
        self._remembered = lru_cache(maxsize=REMEMBERED)(self._made)

    def vector(self, read: Read, question: str | None) -> QuestionVector | None:
        """Return the embedding; None if embeddings are off, no vectors exist, or the embedder fails."""
        if self._models.own is None or not isinstance(question, str) or not question.strip():
            return None
        row = read(lambda connection: connection.execute(_SERVING).fetchone())
        if row is None:
            return None
        model = str(row[0])
        try:
            return self._remembered(model, clean_question(question))
        except (EmbeddingFailed, CallTimedOut) as error:
            self._throttled_log.warn("search uses words alone: %s", error)
        except Exception as error:  # noqa: BLE001 (whatever a model raises: words find something, an error nothing)
            self._throttled_log.warn("search uses words alone: %s failed with %s", model, type(error).__name__)
        return None

    def _made(self, model: str, question: str) -> QuestionVector:
        embedder = self._models.named(model)
        if embedder is None:
            raise EmbeddingFailed(f"these settings can't make vectors of {model}", transient=False)
        (vector,) = self._call_timeout.run(lambda: embedder.embed([question]))
        return QuestionVector(model, vector)
