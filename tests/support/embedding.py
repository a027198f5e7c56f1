"""An embedder for tests that knows which words mean the same: no model, no network, and every call is counted."""

import math
from collections.abc import Sequence

from slowwave.embedding import EmbeddingFailed

MEANINGS = {
    word: axis
    for axis, words in enumerate(
        ("dog puppy hound pet", "car vehicle automobile drives", "tea brew cup", "moved relocated lives", "pilot flies")
    )
    for word in words.split()
}
AXES = 16


class Meanings:
    """A vector has one axis a meaning; other words share the rest. `refuses`: a word whose texts it does not take."""

    def __init__(self, name: str = "test meanings", *, dimension: int = AXES, refuses: str = "") -> None:
        self.name = name
        self.dimension = dimension
        self.refuses = refuses
        self.fails: EmbeddingFailed | None = None
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.fails is not None:
            raise self.fails
        if self.refuses and any(self.refuses in text for text in texts):
            raise EmbeddingFailed(f"{self.name} answered 400", transient=False, by_text=True)
        self.texts += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        numbers = [0.0] * self.dimension
        for raw in text.lower().split():
            word = raw.strip(".,!?:()")
            known = MEANINGS.get(word)
            axis = known if known is not None else len(MEANINGS) % 7 + sum(map(ord, word)) % (self.dimension - 9)
            numbers[axis % self.dimension] += 1.0 if known is not None else 0.2
        length = math.sqrt(sum(x * x for x in numbers)) or 1.0
        return [x / length for x in numbers]


class Models:
    """What `Embedders` is: the settings' own embedder, and others by name."""

    def __init__(self, own: Meanings | None, *others: Meanings) -> None:
        self.own = own
        self._all = {model.name: model for model in (own, *others) if model is not None}

    def named(self, name: str) -> Meanings | None:
        return self._all.get(name)
