"""The relation of two statements by a model of meaning, and the certainty that consolidation requires."""

from collections.abc import Callable
from dataclasses import dataclass

LEARNED_CHARACTERS = 140
"""Nearly all statements from which the model learned are shorter: 99 % have at most 116 characters. Of 22
contradictions and changes in longer memories of real talk, two were right.
"""
BOTH_MAY_HOLD = 0.1
"""If the model's probability of a contradiction is lower, a contradiction by the rules counts only as a relation."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The relation of two statements, as probabilities that add up to 1.

    Attributes:
        duplicate: the probability that both say the same.
        conflict: the probability that both can't be true of the same subject at the same time.
        update: the probability that one says that the other has ended or changed.
        related: the probability that both are about the same matter and may both be true.
        distinct: the probability that they are unrelated.
        duplicate_from: the lowest probability of `duplicate` at which the model counts as certain.
        contradiction_from: the lowest probability of `contradiction` at which the model counts as certain.
    """

    duplicate: float
    conflict: float
    update: float
    related: float
    distinct: float
    duplicate_from: float
    contradiction_from: float
    by_first: float = 0.0

    @property
    def contradiction(self) -> float:
        """The probability that at most one of the two is true now."""
        return self.conflict + self.update

    @property
    def is_duplicate(self) -> bool:
        return self.duplicate >= self.duplicate_from

    @property
    def is_contradiction(self) -> bool:
        return self.contradiction >= self.contradiction_from


MeaningOf = Callable[[str, str], Meaning | None]
"""Judges two texts, independent of their order; None: the model does not judge this pair."""
