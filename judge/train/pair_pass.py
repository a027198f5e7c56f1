"""Judge pairs as a consolidation pass does: by the rules and the model together."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from judge.train.pair_measure import DUPLICATE, Allowed, Thresholds, against
from judge.train.pairs import Pair
from slowwave_server.domain.similarity import Meaning, Verdict, judge, read
from slowwave_server.domain.similarity.meaning import BOTH_MAY_HOLD

MERGED = frozenset({"duplicate", "merge"})


@cache
def _verdict(first: str, second: str, *, same: bool, opposed: bool, may_hold: bool) -> Verdict:
    """Return the verdict on two statements. It depends only on the flags, so all thresholds share a few readings."""
    contradiction = 1.0 if opposed else 0.0 if may_hold else BOTH_MAY_HOLD
    told = Meaning(float(same), contradiction, 0.0, 0.0, 0.0, duplicate_from=0.5, contradiction_from=0.5)
    return judge(read(first), read(second), meaning=lambda _a, _b: told).verdict


def ruled(pairs: Sequence[Pair]) -> list[Verdict]:
    """Return the verdicts of the rules alone."""
    return [judge(read(one.first), read(one.second)).verdict for one in pairs]


def allowed(pairs: Sequence[Pair]) -> Allowed:
    """Return the pairs that a model may merge or call contradictory if it is certain."""
    merged = [_verdict(one.first, one.second, same=True, opposed=False, may_hold=True) in MERGED for one in pairs]
    opposed = [_verdict(one.first, one.second, same=False, opposed=True, may_hold=False) == "conflict" for one in pairs]
    return Allowed(np.array(merged), np.array(opposed))


def passed(pairs: Sequence[Pair], chances: np.ndarray, thresholds: Thresholds) -> list[Verdict]:
    """Return the verdicts of a pass with these probabilities of the model: a row per pair."""
    same = (chances[:, DUPLICATE] >= thresholds.duplicate).tolist()
    contradiction = against(chances)
    opposed = (contradiction >= thresholds.conflict).tolist()
    may_hold = (contradiction < BOTH_MAY_HOLD).tolist()
    return [
        _verdict(one.first, one.second, same=a, opposed=b, may_hold=c)
        for one, a, b, c in zip(pairs, same, opposed, may_hold, strict=True)
    ]
