"""What makes vectors, and how it fails."""

from collections.abc import Sequence
from typing import Protocol

from slowwave.errors import SlowwaveError

Vector = list[float]


class EmbeddingFailed(SlowwaveError):
    """The embedder made no vectors. The message gives the reason; it quotes neither a text nor a key.

    transient: a later call may succeed (network, busy endpoint). by_text: one of the texts caused the failure.
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
    """Makes vectors. Any number of threads may share one."""

    @property
    def name(self) -> str:
        """Driver and model, which vectors are stored under: only those of one name are comparable."""
        ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A vector of length 1 for each text, in their order, all of one dimension. Raises EmbeddingFailed."""
        ...
