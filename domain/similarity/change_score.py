"""Weigh the evidence that a later statement says that an earlier one no longer holds.

The model of meaning, words for a change and the grammar of both statements each count with a weight. change_score.json
contains the weights of a logistic regression, the pairs that it learned, and the shares of other pairs that it ends.
`python -m judge.train changes` fits them again.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log

from slowwave_server.domain.similarity.judge import are_two_subjects
from slowwave_server.domain.similarity.lexicon import stem
from slowwave_server.domain.similarity.meaning import Meaning
from slowwave_server.domain.similarity.moving_on import is_present
from slowwave_server.domain.similarity.quotes import speakers_of
from slowwave_server.domain.similarity.reading import Reading
from slowwave_server.domain.similarity.restating import told_apart
from slowwave_server.domain.similarity.same_thing import (
    give_other_values,
    lacks_thing,
    names_thing,
    own_kinds,
    rival_kinds,
    tells_of_talk,
)
from slowwave_server.domain.similarity.topics import read_clause

_AGENT = "assistant"
_LEAST_CHANCE = 1e-4
_MOST_MISSING = 5
_MOST_CHARACTERS = 400
_DOUBTED, _DOUBTED_OF_NAMES = -1.5, -3.0
"""With weaker evidence of an update, the model sees none. The second bound is for another name and equal topics."""
_EQUAL_TOPICS = 0.5
_SENTENCE = re.compile(r"\w{3}(?<!Mrs)(?<!Prof)[.!?]\s+\w+ \w+ ")
"""A second sentence."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least scores, which a person chose.

    Attributes:
        possible: from which the rules may end the earlier statement.
        sure: from which the evidence alone ends it.
        sure_without_values: the same if the later statement neither names the thing of the earlier one nor gives
            another value.
        sure_of_other: the same if the later statement gives a value of the same kind, but has another subject ("Pim's
            rating") or lacks a word of the earlier one ("the left eye"); for instructions, talk about the listener and
            reports of an agent; and for quoted talk without a value ("yoga helped me").
    """

    possible: float
    sure: float
    sure_without_values: float
    sure_of_other: float


@dataclass(frozen=True, slots=True)
class ChangeWeights:
    """What the score adds up: `start`, and each weight times its evidence."""

    start: float
    weights: Mapping[str, float]

    def score(self, found: Mapping[str, float]) -> float:
        """Return the score of this evidence."""
        return self.start + sum(weight * found[name] for name, weight in self.weights.items())


@dataclass(frozen=True, slots=True)
class Speakers:
    """The speakers and listeners of two statements that quote somebody; none of a statement without a quote."""

    older: frozenset[str]
    newer: frozenset[str]

    @classmethod
    def of(cls, older: str, newer: str) -> "Speakers":
        """Read them from two texts, not in plain words."""
        return cls(speakers_of(older), speakers_of(newer))

    @property
    def stems(self) -> frozenset[str]:
        """Return the stems of the words of their names."""
        return frozenset(stem(word.lower()) for name in self.older | self.newer for word in name.split())


def ends(
    older: Reading, newer: Reading, told: Meaning, *, was_change: bool, is_change: bool, speakers: Speakers
) -> bool | None:
    """Return whether `newer` ends `older`, both in plain words; None if the rules decide.

    told: the model's answer; was_change, is_change: True if the older, the newer one tells of a change.
    """
    weights, bounds = fitted()
    is_quoted = bool(speakers.newer)
    found = evidence(older, newer, told, was_change=was_change, is_change=is_change, is_quoted=is_quoted)
    score = weights.score(found)
    if score < bounds.possible:
        return False
    return True if score >= least(older, newer, bounds, found, speakers) else None


def least(older: Reading, newer: Reading, bounds: Bounds, found: Mapping[str, float], speakers: Speakers) -> float:
    """Return the least score at which the evidence alone ends `older`. found: the evidence."""
    is_other = (found["two subjects"] or lacks_thing(newer, older)) and rival_kinds(older, newer)
    if is_other or _AGENT in speakers.newer or tells_of_talk(older) or tells_of_talk(newer):
        return bounds.sure_of_other
    is_talk = speakers.stems or "user" in older.doer.stems
    if is_talk and not _is_told_in_talk(older, newer, found, speakers.stems):
        return bounds.sure_of_other
    return bounds.sure if names_thing(older, newer) or give_other_values(older, newer) else bounds.sure_without_values


def _is_told_in_talk(older: Reading, newer: Reading, found: Mapping[str, float], names: frozenset[str]) -> bool:
    """Return True if a person's words give another value, or tell of a change of the one thing that was said before.

    Most talk gives no value: a reaction, a mood, an event. An earlier quote of several sentences says several things,
    of which one may end. names: those of the speakers, which are no values.
    """
    mine, its, is_named = own_kinds(older, newer), own_kinds(newer, older), names_thing(older, newer)
    rivals = (mine & its) - {"name"} or (found["shared"] and _families(mine) & _families(its))
    if rivals or ("name" in mine & its and (is_named or found["update"] > 0)):
        return True
    if _SENTENCE.search(older.text) or not (is_present(older) or found["earlier change"]):
        return False
    before, after = ({value.same for value in read_clause(one.text).values} - names for one in (older, newer))
    renamed = "name" in mine & its
    is_sure = renamed and found["change"] and found["shared"] >= _EQUAL_TOPICS
    doubted = found["update"] < (_DOUBTED_OF_NAMES if is_sure else _DOUBTED)
    if not before & after and (doubted or not (renamed or found["change"])):
        return False
    return is_named or bool(after) or bool(before and found["shared"])


def _families(kinds: Iterable[str]) -> set[str]:
    """Return the kinds without units and forms, and without names."""
    return {kind.partition(" ")[0] for kind in kinds} - {"name"}


def evidence(
    older: Reading, newer: Reading, told: Meaning, *, was_change: bool, is_change: bool, is_quoted: bool
) -> dict[str, float]:
    """Return the evidence about two statements in plain words by its name; see `ends` for the arguments."""
    before, after = read_clause(older.text), read_clause(newer.text)
    values = {value.same for value in (*before.values, *after.values)}
    mine, its = set(before.topic) - values, set(after.topic) - values
    return {
        "update": _logit(told.by_first if newer.text < older.text else told.update - told.by_first),
        "conflict": _logit(told.conflict),
        "distinct": _logit(told.distinct),
        "change": is_change,
        "earlier change": was_change,
        "quoted": is_quoted,
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


@cache
def fitted() -> tuple[ChangeWeights, Bounds]:
    """Load the fitted weights and the bounds."""
    told = json.loads((files("slowwave_server.domain.similarity") / "change_score.json").read_text("utf-8"))
    return ChangeWeights(told["start"], told["weights"]), Bounds(**told["bounds"])
