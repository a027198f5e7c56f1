"""Measure the judge of pairs: calibration, thresholds, and the metrics of a set."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judge.train.pairs import OUTPUTS, SWAPPED, Pair

BINS = 10
SHRINK = 1e-5
"""The strength of the penalty on large shifts."""
MOST_MERGED = 0.004
"""The most contradictions, as a share of the fitting set, that the duplicate threshold may pass."""
MOST_ALIKE = 0.015
"""The same limit for related and distinct pairs."""
MOST_ACCUSED = 0.037
"""The most related and distinct pairs, as a share of the fitting set, that the conflict threshold may pass."""
MOST_ACCUSED_OF_PART = 0.0475
"""The same limit for each part of the fitting set alone: a set must not pay for the others."""
READ_AGAIN = (0.5, 0.8)
"""The probabilities of a contradiction at which the model reads a pair in both orders."""
SAME_AGAIN = 0.5
"""The probability of a duplicate from which it does so, too."""
DUPLICATE, CONFLICT, UPDATE, UPDATED, RELATED, DISTINCT = range(len(OUTPUTS))


@dataclass(frozen=True, slots=True)
class Scale:
    """Calibrates logits: one factor, and one shift of each output."""

    factor: float
    shifts: tuple[float, ...]

    def told(self) -> dict[str, Any]:
        """Return the scale in the form of the model card."""
        return {"factor": round(self.factor, 4), "shifts": [round(one, 4) for one in self.shifts]}

    def __call__(self, logits: np.ndarray) -> np.ndarray:
        """Return probabilities that add up to one."""
        scaled = logits * self.factor + np.array(self.shifts)
        raised = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        found: np.ndarray = raised / raised.sum(axis=1, keepdims=True)
        return found


def fit_scale(logits: np.ndarray, pairs: Sequence[Pair]) -> Scale:
    """Return the scale with the maximum likelihood of the labels."""
    from scipy.optimize import minimize  # noqa: PLC0415 (a second, which each process of the test suite would pay)

    true = np.array([one.target for one in pairs])
    # Use both orders, so that update and updated get the same shift.
    logits = np.concatenate([logits, logits[:, SWAPPED]]).astype(float)
    true = np.concatenate([true, true[:, SWAPPED]])

    def missed(told: np.ndarray) -> tuple[float, np.ndarray]:
        factor, shifts = float(np.exp(told[0])), told[1:]
        chances = Scale(factor, tuple(shifts))(logits)
        likely = -(true * np.log(np.maximum(chances, 1e-12))).sum(1).mean() + SHRINK * (shifts**2).sum()
        wrong = (chances * true.sum(1, keepdims=True) - true) / len(true)
        slope = np.concatenate([[(wrong * logits).sum() * factor], wrong.sum(0) + 2 * SHRINK * shifts])
        return float(likely), slope

    found = minimize(missed, np.zeros(1 + len(OUTPUTS)), jac=True, method="L-BFGS-B").x
    return Scale(float(np.exp(found[0])), tuple(float(x) for x in found[1:]))


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Lowest probabilities at which a pair counts as a duplicate or a conflict."""

    duplicate: float
    conflict: float

    def told(self) -> dict[str, float]:
        """Return the thresholds in the form of the model card."""
        return {"duplicate": round(self.duplicate, 4), "conflict": round(self.conflict, 4)}


@dataclass(frozen=True, slots=True)
class Allowed:
    """The pairs that the rules let the model merge, and those that they let it call contradictory."""

    merge: np.ndarray
    conflict: np.ndarray

    def of(self, places: list[int]) -> "Allowed":
        """Return the same for some of the pairs."""
        return Allowed(self.merge[places], self.conflict[places])


def against(chances: np.ndarray) -> np.ndarray:
    """Return the probability that both can't be true now: a conflict, or one says that the other has ended."""
    found: np.ndarray = chances[:, [CONFLICT, UPDATE, UPDATED]].sum(1)
    return found


def are_open(chances: np.ndarray) -> np.ndarray:
    """Return True for each pair that the model reads in both orders."""
    opposed = against(chances)
    found: np.ndarray = (chances[:, DUPLICATE] >= SAME_AGAIN) | (opposed >= READ_AGAIN[0]) & (opposed <= READ_AGAIN[1])
    return found


def fit_thresholds(chances: np.ndarray, pairs: Sequence[Pair], allowed: Allowed | None = None) -> Thresholds:
    """Return the lowest thresholds that keep the errors within the shares above.

    allowed: the pairs for which the rules let the model decide; without it, all.
    """
    alike, opposed_by = chances[:, DUPLICATE], against(chances)
    if allowed is not None:
        alike, opposed_by = alike * allowed.merge, opposed_by * allowed.conflict
    label = np.array([OUTPUTS.index(one.label) for one in pairs])
    other = np.isin(label, (RELATED, DISTINCT))
    opposed = np.isin(label, (CONFLICT, UPDATE, UPDATED))
    same = max(_allows(alike[opposed], MOST_MERGED), _allows(alike[other], MOST_ALIKE), 0.34)
    parts = np.array([one.part for one in pairs])
    of_parts = [_allows(opposed_by[other & (parts == part)], MOST_ACCUSED_OF_PART) for part in sorted(set(parts))]
    return Thresholds(same, max(_allows(opposed_by[other], MOST_ACCUSED), *of_parts, 0.34))


def _allows(scores: np.ndarray, share: float) -> float:
    if not scores.size:
        return 0.0
    ranked = np.sort(scores)[::-1]
    return float(ranked[min(int(share * ranked.size), ranked.size - 1)]) + 1e-6


def calls(chances: np.ndarray, thresholds: Thresholds) -> np.ndarray:
    """Return the verdict on each pair: DUPLICATE, CONFLICT, or -1."""
    same = chances[:, DUPLICATE] >= thresholds.duplicate
    conflict = against(chances) >= thresholds.conflict
    return np.where(same, DUPLICATE, np.where(conflict, CONFLICT, -1))


def figures(called: np.ndarray, chances: np.ndarray, pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the shares of found contradictions (with updates), repetitions, and others (related and distinct)."""
    label = merged_label(np.array([OUTPUTS.index(one.label) for one in pairs]))
    found: dict[str, float] = {"pairs": len(pairs)}
    for name, true in (("contradictions", label == 1), ("repetitions", label == 0), ("others", label >= 2)):
        if true.any():
            found[f"{name}: conflict"] = float((called[true] == CONFLICT).mean())
            found[f"{name}: duplicate"] = float((called[true] == DUPLICATE).mean())
    found["accuracy"] = float((merge_updates(chances).argmax(1) == label).mean())
    found["ECE"] = ece(merge_updates(chances), label)
    return found


def merge_updates(chances: np.ndarray) -> np.ndarray:
    """Return probabilities of duplicate, conflict (with updates), related, distinct."""
    return np.stack([chances[:, 0], against(chances), chances[:, 4], chances[:, 5]], 1)


def merged_label(label: np.ndarray) -> np.ndarray:
    """Return the label after the same merge."""
    found: np.ndarray = np.array([0, 1, 1, 1, 2, 3])[label]
    return found


def ece(chances: np.ndarray, label: np.ndarray) -> float:
    """Return the expected calibration error: the distance between certainty and accuracy, over ten bins of
    certainty.
    """
    best, right = chances.max(1), chances.argmax(1) == label
    place = np.minimum((best * BINS).astype(int), BINS - 1)
    gaps = [abs(best[place == one].mean() - right[place == one].mean()) * (place == one).mean() for one in set(place)]
    return float(sum(gaps))
