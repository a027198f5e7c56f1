"""The relation of two statements by a model of meaning, and the certainty that consolidation requires."""

from collections.abc import Callable
from dataclasses import dataclass

BOTH_MAY_HOLD = 0.1
"""If the model's probability of a contradiction is lower, a contradiction by the rules counts only as a relation."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """How two statements relate, as probabilities that add up to 1.

    Attributes:
        duplicate: both say the same.
        conflict: both can't be true of the same subject at the same time.
        update: one says that the other has ended or changed.
        related: both speak of the same matter, and both may be true.
        distinct: they have nothing to do with each other.
        duplicate_from: probability of `duplicate` from which the model is certain.
        contradiction_from: probability of `contradiction` from which the model is certain.
    """

    duplicate: float
    conflict: float
    update: float
    related: float
    distinct: float
    duplicate_from: float
    contradiction_from: float

    @property
    def contradiction(self) -> float:
        """Probability that at most one of the two is true now."""
        return self.conflict + self.update

    @property
    def is_duplicate(self) -> bool:
        return self.duplicate >= self.duplicate_from

    @property
    def is_contradiction(self) -> bool:
        return self.contradiction >= self.contradiction_from


MeaningOf = Callable[[str, str], Meaning | None]
"""Judges two texts, independent of their order; None: the model does not judge this pair."""
