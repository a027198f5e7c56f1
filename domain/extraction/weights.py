"""The weights of each signal: for the decision to keep a sentence, for its confidence, and for its importance.

`FITTED` and `BIAS` come from `bench/fit_signals.py`: a logistic regression on the development part of Multi-Session
Chat, in which people wrote down what is worth remembering of an utterance. One half of the dialogues evaluated the fit
on the other half. `HAND_SET` covers signals that small talk lacks (decisions, deadlines, standing rules, "remember that
…"), and the rule that a question states nothing. The threshold was chosen for F1, and among equal values for precision.
"""

from collections.abc import Collection, Iterable

from slowwave_server.domain.extraction.signals import PATTERNS
from slowwave_server.domain.extraction.usefulness import share, usefulness

THRESHOLD = -0.86
"""Minimum log-odds of a kept sentence. Higher: less junk and more missed. -1.25 gives the same F1 with more junk."""

FURTHER_THRESHOLD = -0.25
"""Minimum log-odds of a sentence next to a better one of the same event: people write down the best sentence of a turn.
"""

BIAS = -1.03

FITTED: dict[str, float] = {
    "proper_name": 0.71, "pet": 0.70, "i_have": 0.65, "my": 0.61, "answers_about_self": 0.59, "food": 0.59, "i": 0.58,
    "leisure": 0.58, "job": 0.57, "home": 0.51, "family": 0.49, "body": 0.48, "taste": 0.43, "answers": 0.38,
    "money": 0.34, "i_have_done": 0.31, "i_am_a": 0.27, "when": 0.27, "thing": 0.26, "me": 0.25, "i_like": 0.24,
    "possess": 0.23, "i_am": 0.23, "my_x_is": 0.22, "change": 0.21, "answers_in_short": 0.20, "first_person": 0.17,
    "habit": 0.15, "my_favourite": 0.15, "childhood": 0.13, "yes_or_no": 0.11, "starts_with_i": 0.10, "digit": 0.10,
    "age": 0.10, "words_13_20": 0.08, "i_want": 0.07, "hypothetical": -0.06, "i_cannot": -0.10, "negation": -0.16,
    "modal": -0.26, "hedge": -0.27, "courtesy": -0.29, "starts_with_it": -0.30, "words_3_4": -0.31, "exclaims": -0.33,
    "you_and_i": -0.34, "you": -0.36, "nobody": -0.39, "i_think": -0.41, "i_will": -0.56, "about_you": -0.58,
    "words_1_2": -0.62, "reaction": -0.66, "agreement": -0.66,
}  # fmt: skip

HAND_SET: dict[str, float] = {"question": -8.0} | {
    name: weight for name, _, _, weight in PATTERNS if weight is not None
}

KEEP: dict[str, float] = FITTED | HAND_SET

CONFIDENCE_BASE = 0.6
CONFIDENCE: dict[str, float] = {
    "remember": 0.25, "i_am_a": 0.1, "i_have": 0.1, "i_like": 0.1, "my_x_is": 0.1, "my_favourite": 0.1,
    "decision": 0.1, "rule": 0.1,
    "result": 0.1, "proper_name": 0.05, "completed": -0.05, "i_think": -0.1, "hypothetical": -0.15, "hedge": -0.2,
    "agent": -0.1,
    "milestone": 0.3, "standing": 0.2, "tool_result": 0.3, "tool_lesson": 0.2, "outcome": 0.15,
    "settled": -0.05, "delivered": -0.05,
}  # fmt: skip
"""Added to the base; the sum stays within 0.05 and 0.95, because one utterance proves nothing for certain."""

ASKED_FOR = frozenset(("remember", "standing"))
"""Signals of statements that a person wants to be remembered."""
WISHED = 0.8
"""Minimum importance of a statement that a person asks to remember."""
IMPORTANCE_BASE = 0.3
IMPORTANCE: dict[str, float] = {"milestone": 0.25, "tool_result": 0.3, "tool_lesson": 0.35}
"""Added to the base for milestones and tools; the importance of people's and agents' statements is fitted."""


def keep_score(fired: Iterable[str]) -> float:
    """Return the log-odds that people would keep a sentence with these signals."""
    return BIAS + sum(KEEP.get(name, 0.0) for name in fired)


def confidence(fired: Iterable[str]) -> float:
    """Return the confidence of a statement, 0.05 to 0.95."""
    return _bounded(CONFIDENCE_BASE, CONFIDENCE, fired)


def importance(fired: Iterable[str]) -> float:
    """Return the importance of a milestone or a tool's result, 0.05 to 0.95."""
    return _bounded(IMPORTANCE_BASE, IMPORTANCE, fired)


def importance_of(content: str, kind: str, fired: Collection[str], names: Collection[str]) -> float:
    """Return the probability that a statement is useful, 0.05 to 0.95; higher if a person asked to remember it."""
    odds = usefulness(content, kind, fired, names) + (2.0 if not ASKED_FOR.isdisjoint(fired) else 0.0)
    least = WISHED if "remember" in fired else 0.05
    return round(min(0.95, max(least, share(odds))), 2)


def _bounded(base: float, table: dict[str, float], fired: Iterable[str]) -> float:
    return round(min(0.95, max(0.05, base + sum(table.get(name, 0.0) for name in fired))), 2)
