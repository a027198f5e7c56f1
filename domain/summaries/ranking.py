"""Choose sentences by weight and by the new information that each one adds.

The module chooses greedily within a budget. The score of a sentence is its own weight plus the weight of each new word;
a word weighs more if more sentences contain it. So a central topic is chosen once, and a repetition adds nothing.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slowwave_server.domain.similarity.lexicon import stem
from slowwave_server.domain.similarity.stopwords import FUNCTION_WORDS, NEGATORS, PREPOSITIONS

COVERAGE = 0.2
"""Weight of a new word, times the logarithm of the number of sentences that contain it."""
EVEN = 0.8
"""Penalty for each chosen sentence of the same kind and group, if there are several groups."""
NEW_SHARE = 0.2
"""A sentence with a smaller share of new words is a duplicate of another sentence of its kind."""

_SPREAD = (math.sqrt(5) - 1) / 2
"""Items of equal score are ordered by the multiples of this number modulo 1: they spread over the day."""
_STOPWORDS = FUNCTION_WORDS | PREPOSITIONS | NEGATORS
_STRIP = ".,;:!?…()[]{}\"'`*_-\N{EN DASH}\N{EM DASH}<>/\\|#~=+"


def terms(text: str) -> frozenset[str]:
    """Return the stems of the content words of `text`."""
    words = (word.strip(_STRIP).removesuffix("'s") for word in text.lower().replace("\N{EM DASH}", " ").split())
    return frozenset(stem(word) for word in words if word and word not in _STOPWORDS)


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence that can be chosen.

    Attributes:
        kind: the kind of the sentence. Novelty is measured within one kind, because a request and its completion use
            similar words.
        cost: the part of the budget that the sentence uses.
        group: the conversation of the sentence; the chosen sentences come from all groups.
    """

    weight: float
    terms: frozenset[str]
    kind: str
    cost: int
    group: str = ""


def choose(items: Sequence[Item], budget: int, *, opening: int = 0, first: Iterable[int] = ()) -> list[int]:
    """Return the indexes of the chosen items with a total cost within `budget`, in order of choice.

    The items of `first` are chosen first, in their order, if they fit. opening: the extra cost of the first item of
    each kind.

    The evaluation is lazy. The score of an item can only fall while more items are chosen, so an item at the top of the
    heap with a current score is the best.
    """
    choice = _Choice(items, budget, opening)
    for at in first:
        choice.take(at)
    # While no item is chosen, the scores are exact, so the best item needs no second evaluation.
    heap = [(-choice.score(at), at * _SPREAD % 1, at, len(choice.chosen)) for at in range(len(items))]
    heapq.heapify(heap)
    while heap:
        _, place, at, seen = heapq.heappop(heap)
        if at in choice.chosen or not choice.fits(at):
            continue
        if seen < len(choice.chosen):
            heapq.heappush(heap, (-choice.score(at), place, at, len(choice.chosen)))
            continue
        choice.take(at)
    return list(choice.chosen)


class _Choice:
    """The items chosen so far, and the score of each further item."""

    def __init__(self, items: Sequence[Item], budget: int, opening: int) -> None:
        frequency = Counter(term for item in items for term in item.terms)
        self._items = items
        self._worth = {term: COVERAGE * math.log(count) for term, count in frequency.items()}
        self._left, self._opening = budget, opening
        self._covered: set[str] = set()
        self._of_kind: dict[str, set[str]] = {}
        self._of_group: Counter[tuple[str, str]] = Counter()
        self._even = EVEN if len({item.group for item in items}) > 1 else 0.0
        self.chosen: dict[int, None] = {}

    def score(self, at: int) -> float:
        """Return the item's weight plus the weight of its new words."""
        item = self._items[at]
        new = math.fsum(self._worth[term] for term in item.terms - self._covered)
        return item.weight + new - self._even * self._of_group[item.kind, item.group]

    def fits(self, at: int) -> bool:
        """Return True if the item fits into the budget and adds something to the chosen items of its kind."""
        item = self._items[at]
        cost = item.cost + (0 if item.kind in self._of_kind else self._opening)
        new = len(item.terms - self._of_kind.get(item.kind, set()))
        return cost <= self._left and new >= NEW_SHARE * len(item.terms)

    def take(self, at: int) -> None:
        """Choose the item if it fits and is not yet chosen."""
        if at in self.chosen or not self.fits(at):
            return
        item = self._items[at]
        self._left -= item.cost + (0 if item.kind in self._of_kind else self._opening)
        self.chosen[at] = None
        self._covered |= item.terms
        self._of_kind.setdefault(item.kind, set()).update(item.terms)
        self._of_group[item.kind, item.group] += 1
