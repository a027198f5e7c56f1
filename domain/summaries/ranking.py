"""Ranking of sentences: how central each is to all of them, and a choice that does not say the same twice.

Centrality is the cosine with the sum of all sentences, which is the mean likeness to the others at linear cost.

Must not know: what the sentences are about, and where they come from.
"""

import heapq
import math
from collections import Counter
from collections.abc import Sequence

from domain.similarity.lexicon import stem
from domain.similarity.stopwords import FUNCTION_WORDS, NEGATORS, PREPOSITIONS

Vector = dict[str, float]

_STOPWORDS = FUNCTION_WORDS | PREPOSITIONS | NEGATORS
_STRIP = ".,;:!?…()[]{}\"'`*_-<>/\\|#~=+"


def terms(text: str) -> Counter[str]:
    """The stems of the words that carry content, counted."""
    words = (word.strip(_STRIP) for word in text.lower().split())
    return Counter(stem(word.removesuffix("'s")) for word in words if word and word not in _STOPWORDS)


def vectors(texts: Sequence[str]) -> list[Vector]:
    """Unit TF-IDF vectors; the frequencies are those of `texts`. A text without content has an empty one."""
    counted = [terms(text) for text in texts]
    frequency: Counter[str] = Counter()
    for one in counted:
        frequency.update(one.keys())
    return [_unit(one, frequency, len(texts)) for one in counted]


def _unit(counted: Counter[str], frequency: Counter[str], total: int) -> Vector:
    weighed = {term: (1 + math.log(count)) * math.log(1 + total / frequency[term]) for term, count in counted.items()}
    norm = math.sqrt(math.fsum(value * value for value in weighed.values()))
    return {term: value / norm for term, value in weighed.items()} if norm else {}


def cosine(one: Vector, other: Vector) -> float:
    """0..1 for unit vectors."""
    if len(one) > len(other):
        one, other = other, one
    return math.fsum(value * other[term] for term, value in one.items() if term in other)


def centrality(units: Sequence[Vector]) -> list[float]:
    """Of each vector its cosine with the sum of all, over the greatest one: 0..1."""
    total: dict[str, float] = {}
    for unit in units:
        for term, value in unit.items():
            total[term] = total.get(term, 0.0) + value
    scores = [math.fsum(value * total[term] for term, value in unit.items()) for unit in units]
    top = max(scores, default=0.0)
    return [score / top if top else 0.0 for score in scores]


def choose(weights: Sequence[float], units: Sequence[Vector], costs: Sequence[int], budget: int) -> list[int]:
    """The indexes of a choice within `budget`, best first: by weight less the likeness to what was chosen before.

    Greedy and lazy: likeness only grows with the choice, so a stale score is never too low.
    """
    heap = [(-weight, at, 0) for at, weight in enumerate(weights)]
    heapq.heapify(heap)
    chosen: list[int] = []
    alike = [0.0] * len(weights)
    left = budget
    while heap:
        _, at, seen = heapq.heappop(heap)
        if costs[at] > left:
            continue
        if seen < len(chosen):
            alike[at] = max(alike[at], *(cosine(units[at], units[other]) for other in chosen[seen:]))
            if alike[at] < SAME:
                heapq.heappush(heap, (REDUNDANCY * alike[at] - weights[at], at, len(chosen)))
            continue
        chosen.append(at)
        left -= costs[at]
    return chosen


SAME = 0.8
"""Cosine from which two sentences say the same: the second is never chosen."""
REDUNDANCY = 3.0
"""What full likeness to a chosen sentence costs, in the unit of the weights."""
