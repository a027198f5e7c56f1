"""The interface of embedders, and their errors."""

from collections.abc import Sequence
from typing import Protocol

from slowwave.errors import SlowwaveError

Vector = list[float]


class EmbeddingFailed(SlowwaveError):
    """The embedder made no vectors. The message gives the reason; it quotes neither a text nor a key.

    transient: True if a later call may succeed (network, busy endpoint). by_text: True if one of the texts caused the
    failure.
    """

    def __init__(self, message: str, *, transient: bool, by_text: bool = False) -> None:
        super().__init__(message)
        self.transient = transient
        self.by_text = by_text


class EmbedderMissing(EmbeddingFailed):
    """A package for embeddings is not installed; the message names it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, transient=False)


class Embedder(Protocol):
    """Makes vectors. Threads may share one object."""

    @property
    def name(self) -> str:
        """Driver and model, the name under which vectors are stored. Only vectors of one name are comparable."""
        ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector of length 1 for each text, in order, all of one dimension. Raises EmbeddingFailed."""
        ...
