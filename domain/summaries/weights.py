"""What each property of a sentence weighs when a summary is chosen.

Must not know: how properties are found, and how many sentences are chosen.
"""

from collections.abc import Collection

from domain.extraction.weights import keep_score

KEEP = 0.35
"""Of the log-odds that people would keep the sentence."""
CENTRALITY = 3.0
"""Of its likeness to all that was said, 0..1."""
QUESTION = 0.0
BONUS: dict[str, float] = {
    "request": 1.5,
    "milestone": 3.0,
    "agent": -0.5,
}
_FACETS = {"decided": 1.0, "executed": 0.8, "state": 0.3}
_QUESTION_TERM = -8.0
BEST_WORDS = 18
LENGTH = 0.02


def base_weight(fired: Collection[str], facet: str, words: int) -> float:
    """What a sentence weighs by itself."""
    kept = keep_score(fired)
    if "question" in fired:
        kept -= _QUESTION_TERM
    score = KEEP * max(-3.0, min(3.0, kept)) + _FACETS.get(facet, 0.0)
    score += sum(weight for name, weight in BONUS.items() if name in fired)
    if "question" in fired and "request" not in fired:
        score += QUESTION if "to_agent" in fired else QUESTION - 1.0
    return score - LENGTH * max(0, BEST_WORDS - words)
