"""Judge how two statements relate, by the second model of the package.

The module imports nothing of Slowwave; the caller passes plain text.
"""

import json
from dataclasses import dataclass

import numpy as np

from slowwave_judge.runtime import PACKAGE, Network

_CARD = json.loads((PACKAGE / "pairs.json").read_text("utf-8"))
PAIRS_NAME: str = _CARD["name"]
"""The model's name with the first digits of its hash."""
_SWAPPED = [0, 1, 3, 2, 4, 5]
"""The places of the outputs if the two statements swap places."""


@dataclass(frozen=True, slots=True)
class Relation:
    """The relation of two statements, as calibrated probabilities that add up to 1.

    Attributes:
        duplicate: the probability that both say the same.
        conflict: the probability that both can't be true of the same subject at the same time.
        update: the probability that the second statement says that the first has ended or changed.
        updated: the probability that the first statement says that the second has ended or changed.
        related: the probability that both are about the same matter and may both be true.
        distinct: the probability that they are unrelated.
    """

    duplicate: float
    conflict: float
    update: float
    updated: float
    related: float
    distinct: float

    def swapped(self) -> "Relation":
        """Return the relation of the two statements in the other order."""
        return Relation(self.duplicate, self.conflict, self.updated, self.update, self.related, self.distinct)


class PairJudge:
    """The model of pairs. Create it after a fork; loading takes 0.2 seconds.

    It reads a pair again in the other order if the first answer leaves open whether the two contradict each other, or
    says that they may repeat each other, and takes the mean. That is about every fifth pair of near statements.

    Attributes:
        duplicate_from: The lowest probability of `duplicate` at which two statements count as equal.
        conflict_from: The lowest sum of the probabilities of `conflict`, `update` and `updated` at which two statements
            count as contradictory.

    Example:
        >>> relation = PairJudge().relation("Maya lives in Porto.", "Maya's home is in Oslo.")
        >>> relation.conflict > relation.duplicate
        True
    """

    def __init__(self) -> None:
        self._network = Network("pairs.onnx", "pairs_tokenizer.json", shorten="longest_first", output="relations")
        self._factor = float(_CARD["scale"]["factor"])
        self._shifts = np.array(_CARD["scale"]["shifts"])
        again = _CARD["read again"]
        self._open_from, self._open_to = (float(one) for one in again["contradiction"])
        self._same_from = float(again["duplicate"])
        self.duplicate_from = float(_CARD["thresholds"]["duplicate"])
        self.conflict_from = float(_CARD["thresholds"]["conflict"])

    def relation(self, first: str, second: str) -> Relation:
        """Judge how two statements relate.

        The model reads the two in alphabetical order first, so that the answer does not depend on the order of the
        arguments.

        Args:
            first: A statement.
            second: Another statement.

        Returns:
            The relation of the second statement to the first.
        """
        if second < first:
            return self.relation(second, first).swapped()
        answer = np.array(self._network(first, second))
        told = self._calibrated(answer)
        opposed = told.conflict + told.update + told.updated
        if told.duplicate >= self._same_from or self._open_from <= opposed <= self._open_to:
            again = np.array(self._network(second, first))[_SWAPPED]
            told = self._calibrated((answer + again) / 2)
        return told

    def _calibrated(self, answer: np.ndarray) -> Relation:
        scaled = answer * self._factor + self._shifts
        raised = np.exp(scaled - scaled.max())
        return Relation(*(float(one) for one in raised / raised.sum()))
