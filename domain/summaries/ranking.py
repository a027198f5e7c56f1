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
EVEN = 0.8
"""What a sentence loses for each one of its kind and group that is chosen already, if there are several groups."""
NEW_SHARE = 0.2
"""A sentence with fewer new words than this share says what another of its kind said."""

_SPREAD = (math.sqrt(5) - 1) / 2
"""Items of the same score come in the order of their multiples of it, modulo 1: spread over the day, not its first."""
_STOPWORDS = FUNCTION_WORDS | PREPOSITIONS | NEGATORS
_STRIP = ".,;:!?…()[]{}\"'`*_-\N{EN DASH}\N{EM DASH}<>/\\|#~=+"


def terms(text: str) -> frozenset[str]:
    """The stems of the words of `text` that carry content."""
    words = (word.strip(_STRIP).removesuffix("'s") for word in text.lower().replace("\N{EM DASH}", " ").split())
    return frozenset(stem(word) for word in words if word and word not in _STOPWORDS)


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence to choose or not. kind: what it is compared within, since what was asked for and that it was done say
    much the same in words; cost: what it takes of the budget; group: the conversation that it comes from, since a
    choice is spread over all of them.
    """

    weight: float
    terms: frozenset[str]
    kind: str
    cost: int
    group: str = ""


def choose(items: Sequence[Item], budget: int, *, opening: int = 0, first: Iterable[int] = ()) -> list[int]:
    """The indexes of a choice whose costs are within `budget`, as chosen; those of `first` come first, in their order,
    if they fit.

    opening: what the first of each kind costs on top. Lazy: what a sentence adds only shrinks while the choice grows,
    so one whose score still holds when it comes up is the best.
    """
    choice = _Choice(items, budget, opening)
    for at in first:
        choice.take(at)
    # With nothing chosen the scores are exact, so the best one needs no second look.
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
    """What is chosen so far, and what each further item would add."""

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
        """What the item weighs, with the words that it adds."""
        item = self._items[at]
        new = math.fsum(self._worth[term] for term in item.terms - self._covered)
        return item.weight + new - self._even * self._of_group[item.kind, item.group]

    def fits(self, at: int) -> bool:
        """Whether there is room for the item, and it says something that no other of its kind says."""
        item = self._items[at]
        cost = item.cost + (0 if item.kind in self._of_kind else self._opening)
        new = len(item.terms - self._of_kind.get(item.kind, set()))
        return cost <= self._left and new >= NEW_SHARE * len(item.terms)

    def take(self, at: int) -> None:
        """Choose the item, if it fits and isn't chosen."""
        if at in self.chosen or not self.fits(at):
            return
        item = self._items[at]
        self._left -= item.cost + (0 if item.kind in self._of_kind else self._opening)
        self.chosen[at] = None
        self._covered |= item.terms
        self._of_kind.setdefault(item.kind, set()).update(item.terms)
        self._of_group[item.kind, item.group] += 1
