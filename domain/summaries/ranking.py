"""Which of many sentences to keep: those that weigh most and tell most that the others do not.

Greedy choice under a budget, by a sentence's own weight and the words that it adds, each as much as all sentences
together speak of it. What is central comes in once, and saying it twice adds nothing.

Must not know: what the sentences are about, and where they come from.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slowwave_server.domain.similarity.lexicon import stem
from slowwave_server.domain.similarity.stopwords import FUNCTION_WORDS, NEGATORS, PREPOSITIONS

COVERAGE = 0.2
"""What a new word adds, times the logarithm of how many sentences have it."""
NEW_SHARE = 0.2
"""A sentence with fewer new words than this share says what another of its kind said."""

_STOPWORDS = FUNCTION_WORDS | PREPOSITIONS | NEGATORS
_STRIP = ".,;:!?…()[]{}\"'`*_-\N{EN DASH}\N{EM DASH}<>/\\|#~=+"


def terms(text: str) -> frozenset[str]:
    """The stems of the words of `text` that carry content."""
    words = (word.strip(_STRIP).removesuffix("'s") for word in text.lower().replace("\N{EM DASH}", " ").split())
    return frozenset(stem(word) for word in words if word and word not in _STOPWORDS)


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence to choose or not. kind: what it is compared within, since what was asked for and that it was done say
    much the same in words; cost: what it takes of the budget.
    """

    weight: float
    terms: frozenset[str]
    kind: str
    cost: int


def choose(items: Sequence[Item], budget: int, *, opening: int = 0, first: Iterable[int] = ()) -> list[int]:
    """The indexes of a choice whose costs are within `budget`, as chosen; those of `first` come first, if they fit.

    opening: what the first of each kind costs on top. Lazy: what a sentence adds only shrinks while the choice grows,
    so one whose score still holds when it comes up is the best.
    """
    frequency = Counter(term for item in items for term in item.terms)
    worth = {term: COVERAGE * math.log(count) for term, count in frequency.items()}
    covered: set[str] = set()
    of_kind: dict[str, set[str]] = {}
    chosen: dict[int, None] = {}
    left = budget
    # With nothing covered the scores are exact, so the best one needs no second look.
    heap = [(-math.inf, at, -1) for at in first]
    heap += [(-_score(item.weight, item.terms, worth), at, 0) for at, item in enumerate(items)]
    heapq.heapify(heap)
    while heap:
        _, at, seen = heapq.heappop(heap)
        item = items[at]
        cost = item.cost + (0 if item.kind in of_kind else opening)
        said = of_kind.get(item.kind, set())
        if at in chosen or cost > left or len(item.terms - said) < NEW_SHARE * len(item.terms):
            continue
        if 0 <= seen < len(chosen):
            score = _score(item.weight, item.terms - covered, worth)
            heapq.heappush(heap, (-score, at, len(chosen)))
            continue
        chosen[at] = None
        covered |= item.terms
        of_kind[item.kind] = said | item.terms
        left -= cost
    return list(chosen)


def _score(weight: float, new: Iterable[str], worth: dict[str, float]) -> float:
    return weight + math.fsum(worth[term] for term in new)
