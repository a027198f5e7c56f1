"""Fit the score of changes: collect the evidence of pairs of statements, and fit its weights and its start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench import logistic
from judge.train.change_data import WEIGHTS, Case
from judge.train.pair_measure import Scale
from judge.train.pair_model import PairModel
from judge.train.pairs import Pair, target
from slowwave_server.domain.similarity import Meaning, changes, read
from slowwave_server.domain.similarity.change_score import Bounds, ChangeWeights, Speakers, evidence, least
from slowwave_server.domain.similarity.changing import tells_change
from slowwave_server.services.consolidation.meaning import MOST_CHARACTERS

PENALTY = 6.0
"""The strength of the ridge penalty, for evidence with mean 0 and deviation 1."""
MOST_ENDED = 0.0075
"""The share of related pairs that the fitted score ends."""
Texts = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A pair with what decides about it.

    found: the evidence; None if the rules alone decide. least: the least score at which the evidence ends the older
    one. by_rules: True if the rules end it.
    """

    case: Case
    found: Mapping[str, float] | None
    least: float
    by_rules: bool

    def ended(self, weights: ChangeWeights, bounds: Bounds) -> bool:
        """Return True if a consolidation pass with these weights ends the older statement."""
        score = None if self.found is None else weights.score(self.found)
        if score is None or bounds.possible <= score < self.least:
            return self.by_rules
        return score >= self.least


def weigh(cases: Sequence[Case], model: PairModel, scale: Scale, bounds: Bounds) -> list[Weighed]:
    """Return the cases with their evidence."""
    asked = [_asked(case) for case in cases]
    pairs = sorted({(min(texts), max(texts)) for texts, _ in asked if texts})
    told = scale(model.logits([Pair(a, b, target()) for a, b in pairs], scale))
    meanings = {texts: _meaning(row) for texts, row in zip(pairs, told.tolist(), strict=True)}
    found = []
    for case, (texts, by_rules) in zip(cases, asked, strict=True):
        if texts is None:
            found.append(Weighed(case, None, 0.0, by_rules))
            continue
        older, newer = map(read, texts)
        speakers = Speakers.of(case.older, case.newer)
        its = evidence(
            older,
            newer,
            meanings[min(texts), max(texts)],
            was_change=tells_change(older.text),
            is_change=tells_change(newer.text),
            is_quoted=bool(speakers.newer),
        )
        needed = least(older, newer, bounds, its, speakers)
        found.append(Weighed(case, its, needed, by_rules))
    return found


def _asked(case: Case) -> tuple[Texts | None, bool]:
    """Return the two texts that the model is asked about, if it is asked, and whether the rules end the older one."""
    asked: list[Texts] = []

    def ask(older: str, newer: str) -> Meaning | None:
        if max(len(older), len(newer)) <= MOST_CHARACTERS:
            asked.append((older, newer))
        return None

    by_rules = changes(read(case.newer), read(case.older), ask)
    return (asked[0] if asked else None), by_rules


def _meaning(told: Sequence[float]) -> Meaning:
    duplicate, conflict, update, updated, related, distinct = told
    return Meaning(duplicate, conflict, update + updated, related, distinct, 1.0, 1.0, by_first=updated)


def fit(rows: Sequence[Weighed]) -> ChangeWeights:
    """Return the weights with which the score ends the share MOST_ENDED of the related pairs."""
    rows = [row for row in rows if row.found is not None]
    names = list(rows[0].found or ())
    table = np.array([[float((row.found or {})[name]) for name in names] for row in rows])
    mean, deviation = table.mean(0), table.std(0) + 1e-6
    scaled = [dict(zip(names, row, strict=True)) | {"bias": 1.0} for row in ((table - mean) / deviation).tolist()]
    told = logistic.fit(scaled, [row.case.ended for row in rows], [WEIGHTS[row.case.kind] for row in rows], PENALTY)
    weights = {name: told.get(name, 0.0) / width for name, width in zip(names, deviation.tolist(), strict=True)}
    weights = {name: round(weight, 2) for name, weight in weights.items()}
    return ChangeWeights(_start(rows, ChangeWeights(0.0, weights)), weights)


def _start(rows: Sequence[Weighed], weights: ChangeWeights) -> float:
    missing = [row.least - weights.score(row.found) for row in rows if row.found and row.case.kind == "related"]
    return round(float(np.quantile(missing, MOST_ENDED)), 2)
