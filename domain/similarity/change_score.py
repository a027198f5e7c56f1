"""Weigh the evidence that a later statement says that an earlier one no longer holds.

The model of meaning, words for a change and the grammar of both statements each count with a weight. The weights come
from a logistic regression over pairs of statements that the model never learned; `judge/train/change_weights.py` fits
them.
"""

from math import log

from slowwave_server.domain.similarity.judge import are_two_subjects
from slowwave_server.domain.similarity.meaning import Meaning
from slowwave_server.domain.similarity.reading import Reading
from slowwave_server.domain.similarity.restating import told_apart
from slowwave_server.domain.similarity.topics import Topic, read_clause

SURE = 0.0
"""The least score at which the evidence alone ends the earlier statement."""
POSSIBLE = -2.0
"""The least score at which a rule may end it."""

_START = 1.39
_WEIGHTS = {
    "update": 1.16,
    "conflict": 0.26,
    "distinct": -0.36,
    "change": 1.47,
    "earlier change": 1.07,
    "quoted": 1.29,
    "speaker": 0.83,
    "names": 1.25,
    "shared": 1.12,
    "missing": -0.17,
    "same verb": -1.25,
    "told apart": -0.8,
    "two subjects": -0.66,
    "characters": -2.13,
}
_LEAST_CHANCE = 1e-4
_MOST_MISSING = 5
_MOST_CHARACTERS = 400


def change_score(
    older: Reading, newer: Reading, told: Meaning, *, was_change: bool, is_change: bool, is_quoted: bool
) -> float:
    """Return the logit of the chance that `newer` ends `older`, both in plain words, less the logit that suffices.

    told: the model's answer; was_change, is_change: True if the older, the newer one tells of a change; is_quoted: True
    if the newer one is somebody's own words.
    """
    found = evidence(older, newer, told) | {
        "change": float(is_change),
        "earlier change": float(was_change),
        "quoted": float(is_quoted),
    }
    return _START + sum(weight * found[name] for name, weight in _WEIGHTS.items())


def evidence(older: Reading, newer: Reading, told: Meaning) -> dict[str, float]:
    """Return the evidence that the model and the grammar of two statements in plain words give, by its name."""
    before, after = read_clause(older.text), read_clause(newer.text)
    values = {value.same for value in (*before.values, *after.values)}
    mine, its = set(before.topic) - values, set(after.topic) - values
    missing = mine - its - before.verbs - after.verbs
    update = told.by_first if newer.text < older.text else told.update - told.by_first
    return {
        "update": _logit(update),
        "conflict": _logit(told.conflict),
        "distinct": _logit(told.distinct),
        "speaker": float("user" in older.doer.stems & newer.doer.stems),
        "names": float(_gives_name(before, after) and _gives_name(after, before)),
        "shared": len(mine & its) / max(1, min(len(mine), len(its))),
        "missing": min(len(missing), _MOST_MISSING),
        "same verb": float(older.clause.verb == newer.clause.verb != ""),
        "told apart": float(told_apart(older, newer)),
        "two subjects": float(are_two_subjects(older, newer)),
        "characters": min(max(len(older.text), len(newer.text)), _MOST_CHARACTERS) / 100,
    }


def _gives_name(said: Topic, other: Topic) -> bool:
    """Return True if a statement gives a name that the other one lacks."""
    return any(value.kind == "name" for value in said.own(other, with_names=True))


def _logit(chance: float) -> float:
    held = min(max(chance, _LEAST_CHANCE), 1 - _LEAST_CHANCE)
    return log(held / (1 - held))
