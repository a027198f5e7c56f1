"""Judge pairs as a consolidation pass does: by the rules and the model together."""

from collections.abc import Callable, Sequence

import numpy as np

from judge.train.pair_measure import UPDATE, UPDATED, Allowed, Thresholds
from judge.train.pairs import Pair
from slowwave_server.domain.similarity import Meaning, MeaningOf, Verdict, judge, read

MERGED = frozenset({"duplicate", "merge"})
_SAME = Meaning(1.0, 0.0, 0.0, 0.0, 0.0, duplicate_from=0.5, contradiction_from=0.5)
_OPPOSED = Meaning(0.0, 1.0, 0.0, 0.0, 0.0, duplicate_from=0.5, contradiction_from=0.5)


def verdicts(pairs: Sequence[Pair], meaning_of: Callable[[int], MeaningOf | None]) -> list[Verdict]:
    """Return the verdict on each pair. meaning_of: the model's answer for the place of a pair."""
    return [
        judge(read(one.first), read(one.second), meaning=meaning_of(place)).verdict for place, one in enumerate(pairs)
    ]


def allowed(pairs: Sequence[Pair]) -> Allowed:
    """Return the pairs that a model may merge or call contradictory if it is certain."""
    merged = [verdict in MERGED for verdict in verdicts(pairs, lambda _: _always(_SAME))]
    opposed = [verdict == "conflict" for verdict in verdicts(pairs, lambda _: _always(_OPPOSED))]
    return Allowed(np.array(merged), np.array(opposed))


def passed(pairs: Sequence[Pair], chances: np.ndarray, thresholds: Thresholds) -> list[Verdict]:
    """Return the verdicts of a pass with these probabilities of the model: a row per pair."""

    def answer(place: int) -> MeaningOf:
        row = [float(one) for one in chances[place]]
        return _always(
            Meaning(
                row[0], row[1], row[UPDATE] + row[UPDATED], row[4], row[5], thresholds.duplicate, thresholds.conflict
            )
        )

    return verdicts(pairs, answer)


def _always(meaning: Meaning) -> MeaningOf:
    return lambda _a, _b: meaning
