"""What makes vectors, and how it fails.

Must not know: any single model.
"""

from collections.abc import Sequence
from typing import Protocol

from slowwave.errors import SlowwaveError

Vector = list[float]


class EmbeddingFailed(SlowwaveError):
    """No vectors were made. The text says why; it never quotes what was to be embedded, nor a key.

    transient: whether the same may work later (a network, a busy endpoint). by_text: one of the texts is to blame.
    """

    def __init__(self, message: str, *, transient: bool, by_text: bool = False) -> None:
        super().__init__(message)
        self.transient = transient
        self.by_text = by_text


class EmbedderMissing(EmbeddingFailed):
    """What is needed for vectors is not installed; the text says what to install."""

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
