"""The weight of each property of a sentence in the choice for a summary.

`KEEP` and the values derived from it were tuned on three conversations of LoCoMo (see bench/days.py), where small
changes make small differences. These conversations contain no milestones, requests, decisions and results, so their
weights are set by hand.
"""

from collections.abc import Collection

from slowwave_server.domain.extraction.weights import HAND_SET, keep_score
from slowwave_server.domain.summaries.lines import Facet

KEEP = 0.6
"""Factor of the log-odds that people would keep the sentence, clipped to `_LEAST` and `_MOST`."""
_LEAST, _MOST = -3.0, 3.0

SIGNALS: dict[str, float] = {
    "dated": 0.3, "answers": 0.3, "question": -1.0, "request": 2.5, "milestone": 3.0, "agent": -0.5, "outcome": 1.2,
    "settled": 1.5, "opening": 1.5, "tool": 3.5, "achieved": 2.2, "delivered": 1.6, "accepted": 2.6, "taken": 1.8,
    "refused": 2.6, "ended": 5.0,
}  # fmt: skip
TO_AGENT = 1.0
"""A person's question to an agent states a wish; between people, a question mostly keeps the talk going."""
FACETS: dict[Facet, float] = {"decided": 1.0, "executed": 0.8}

SHARES: dict[Facet, float] = {"ended": 0.85, "executed": 0.2, "wanted": 0.3, "decided": 0.1, "state": 0.1}
"""The reserved share of a summary for each facet, in order of precedence."""

SUPERSEDED = 0.0
"""The weight of a run's outcome that a later outcome of the same run replaced."""
EARLY_STATE = 0.6
"""The penalty of a state line at the beginning of the day; it falls to 0 at the end, because the last outcome counts.
"""
SURE = 0.5
"""Minimum weight of a line that takes precedence within its facet's share; the best line of each facet always does."""
LEAST = -0.9
"""Lines below this weight are never chosen, even if there is room."""


def weight_of(fired: Collection[str], facet: Facet) -> float:
    """Return the weight of a sentence with these signals, independent of other sentences."""
    kept = keep_score(fired)
    if "question" in fired:
        kept -= HAND_SET["question"]  # a question states nothing, but in a summary it is not penalised
    if "request" in fired:
        kept -= HAND_SET["imperative"] if "imperative" in fired else 0.0
    score = KEEP * max(_LEAST, min(_MOST, kept)) + FACETS.get(facet, 0.0)
    score += sum(SIGNALS.get(name, 0.0) for name in fired)
    if "question" in fired and "to_agent" in fired:
        score += TO_AGENT
    return round(score, 4)
