"""Weigh the evidence that a later statement says that an earlier one no longer holds.

The model of meaning, words for a change and the grammar of both statements each count with a weight. The weights come
from a logistic regression over pairs of statements that the model never learned.
"""

from math import log

from slowwave_server.domain.similarity.judge import are_two_subjects
from slowwave_server.domain.similarity.meaning import Meaning
from slowwave_server.domain.similarity.reading import Reading
from slowwave_server.domain.similarity.restating import told_apart
from slowwave_server.domain.similarity.same_thing import (
    give_other_values,
    lacks_thing,
    names_thing,
    rival_kinds,
    tells_of_talk,
)
from slowwave_server.domain.similarity.topics import read_clause

_POSSIBLE = -3.0
"""The least score at which the rules may end the earlier statement."""
_SURE = 0.0
"""The least score at which the evidence alone ends it."""
_SURE_WITHOUT_VALUES = 1.0
"""The same if the later statement neither names the thing of the earlier one nor gives another value."""
_SURE_OF_OTHER = 4.0
"""The same if the later statement gives a value of the same kind, but has another subject ("Pim's rating") or lacks a
word of the earlier one ("the left eye"), and for instructions and talk about the listener.
"""
_START = 1.55
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


def ends(
    older: Reading, newer: Reading, told: Meaning, *, was_change: bool, is_change: bool, is_quoted: bool
) -> bool | None:
    """Return whether `newer` ends `older`, both in plain words; None if the rules decide.

    told: the model's answer; was_change, is_change: True if the older, the newer one tells of a change; is_quoted: True
    if the newer one is somebody's own words.
    """
    told_so = {"change": is_change, "earlier change": was_change, "quoted": is_quoted}
    found = evidence(older, newer, told) | told_so
    score = _START + sum(weight * found[name] for name, weight in _WEIGHTS.items())
    if score < _POSSIBLE:
        return False
    return True if score >= _least(older, newer, two_subjects=bool(found["two subjects"])) else None


def _least(older: Reading, newer: Reading, *, two_subjects: bool) -> float:
    is_other = (two_subjects or lacks_thing(newer, older)) and rival_kinds(older, newer)
    if is_other or tells_of_talk(older) or tells_of_talk(newer):
        return _SURE_OF_OTHER
    return _SURE if give_other_values(older, newer) or names_thing(older, newer) else _SURE_WITHOUT_VALUES


def evidence(older: Reading, newer: Reading, told: Meaning) -> dict[str, float]:
    """Return the evidence that the model and the grammar of two statements in plain words give, by its name."""
    before, after = read_clause(older.text), read_clause(newer.text)
    values = {value.same for value in (*before.values, *after.values)}
    mine, its = set(before.topic) - values, set(after.topic) - values
    return {
        "update": _logit(told.by_first if newer.text < older.text else told.update - told.by_first),
        "conflict": _logit(told.conflict),
        "distinct": _logit(told.distinct),
        "speaker": "user" in older.doer.stems & newer.doer.stems,
        "names": "name" in rival_kinds(older, newer),
        "shared": len(mine & its) / max(1, min(len(mine), len(its))),
        "missing": min(len(mine - its - before.verbs - after.verbs), _MOST_MISSING),
        "same verb": older.clause.verb == newer.clause.verb != "",
        "told apart": told_apart(older, newer),
        "two subjects": are_two_subjects(older, newer),
        "characters": min(max(len(older.text), len(newer.text)), _MOST_CHARACTERS) / 100,
    }


def _logit(chance: float) -> float:
    held = min(max(chance, _LEAST_CHANCE), 1 - _LEAST_CHANCE)
    return log(held / (1 - held))
