"""What each property of a sentence weighs when a summary is chosen.

`KEEP` and what follows from it were chosen on three conversations of LoCoMo (see bench/days.py), where small changes
make small differences; milestones, requests, decisions and results, of which such talk has none, are set by hand.

Must not know: how properties are found, and how many sentences are chosen.
"""

from collections.abc import Collection

from slowwave_server.domain.extraction.weights import HAND_SET, keep_score
from slowwave_server.domain.summaries.lines import Facet

KEEP = 0.6
"""Of the log-odds that people would keep the sentence, cut at `_LEAST` and `_MOST`."""
_LEAST, _MOST = -3.0, 3.0

SIGNALS: dict[str, float] = {
    "dated": 0.3, "answers": 0.3, "question": -1.0, "request": 2.5, "milestone": 3.0, "agent": -0.5, "outcome": 1.2,
    "settled": 1.5, "opening": 1.5, "tool": 3.5, "achieved": 2.2, "delivered": 1.6, "accepted": 2.6, "taken": 1.8,
    "refused": 2.6, "ended": 5.0,
}  # fmt: skip
TO_AGENT = 1.0
"""A person's question to an agent is what they want; between people it mostly keeps the talk going."""
FACETS: dict[Facet, float] = {"decided": 1.0, "executed": 0.8}

SHARES: dict[Facet, float] = {"ended": 0.85, "executed": 0.2, "wanted": 0.3, "decided": 0.1, "state": 0.1}
"""The part of a summary that the lines of each facet are sure of, in the order in which they come."""

SUPERSEDED = 0.0
"""The weight of a run's outcome that a later one of the same run replaced."""
EARLY_STATE = 0.6
"""What tells how things stood at the beginning of the day loses so much, at its end nothing: the last
outcome counts."""
SURE = 0.5
"""What weighs as much answers its question: such lines come before what was said, as far as the share of their facet
goes; the best one of each facet comes in any case."""
LEAST = -0.9
"""What weighs less is not worth a line, however much room there is."""


def weight_of(fired: Collection[str], facet: Facet) -> float:
    """What a sentence with these signals weighs by itself."""
    kept = keep_score(fired)
    if "question" in fired:
        kept -= HAND_SET["question"]  # it states nothing, which is no reason against a summary
    if "request" in fired:
        kept -= HAND_SET["imperative"] if "imperative" in fired else 0.0
    score = KEEP * max(_LEAST, min(_MOST, kept)) + FACETS.get(facet, 0.0)
    score += sum(SIGNALS.get(name, 0.0) for name in fired)
    if "question" in fired and "to_agent" in fired:
        score += TO_AGENT
    return round(score, 4)
