"""Select the hits to show: those that are relevant enough, add something new, and fit a token budget."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from slowwave.errors import InvalidQuery, shown
from slowwave.recall.hits import Hit
from slowwave.recall.tokens import estimate

ALIKE = 0.85
"""Share of its words from which on a long hit says what a hit before it says."""
LONG = 20
"""Words. Of a shorter hit one word may be all that is new: it repeats only what holds all of its words."""
FILLING = 60
"""Hits that a search for a budget ranks: a budget may have room for many short ones."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Selection:
    """The limits of the hits that a search shows.

    Attributes:
        limit: the highest number of hits.
        max_tokens: the highest number of tokens of all hits, each with its date; None: no budget.
        min_relevance: a relevance from 0 to 1; hits below it are left out.
    """

    limit: int
    max_tokens: int | None = None
    min_relevance: float = 0.0

    @property
    def depth(self) -> int:
        """The number of hits to rank."""
        return self.limit if self.max_tokens is None else max(self.limit, FILLING)

    def check(self) -> None:
        """Raise `InvalidQuery` for invalid limits."""
        if self.max_tokens is not None and (
            isinstance(self.max_tokens, bool) or not isinstance(self.max_tokens, int) or self.max_tokens < 0
        ):
            raise InvalidQuery(f"max_tokens must be an integer, 0 or more, got {shown(self.max_tokens)}")
        floor = self.min_relevance
        if floor is not None and (isinstance(floor, bool) or not isinstance(floor, int | float) or not 0 <= floor <= 1):
            raise InvalidQuery(f"min_relevance must be a number from 0 to 1, got {shown(floor)}")

    def choose(self, hits: Iterable[Hit]) -> list[Hit]:
        """Return the ranked hits to show."""
        kept = relevant(hits, self.min_relevance)
        return (kept if self.max_tokens is None else fitting(kept, self.max_tokens))[: self.limit]


def relevant(hits: Iterable[Hit], least: float) -> list[Hit]:
    """Return the hits with a relevance of at least `least`."""
    return [hit for hit in hits if hit.relevance is None or hit.relevance >= least]


def fitting(hits: Iterable[Hit], max_tokens: int, count: Callable[[str], int] = estimate) -> list[Hit]:
    """Choose the hits that fill a budget with the most distinct evidence.

    Args:
        hits: best first.
        max_tokens: the highest number of tokens of the chosen hits, each with its date.
        count: counts the tokens of a text.

    Returns:
        The chosen hits, best first, without those that do not fit or repeat an earlier one.
    """
    chosen: list[Hit] = []
    said: list[frozenset[str]] = []
    for hit in hits:
        cost = count(shown_line(hit))
        words = frozenset(_WORD.findall(hit.content.casefold()))
        if cost > max_tokens or any(_repeats(words, other) for other in said):
            continue
        max_tokens -= cost
        chosen.append(hit)
        said.append(words)
    return chosen


def _repeats(words: frozenset[str], other: frozenset[str]) -> bool:
    return words <= other if len(words) < LONG else len(words & other) >= ALIKE * len(words)


def distinct(hits: Iterable[Hit]) -> list[Hit]:
    """Return the hits, best first, without those that repeat an earlier one."""
    return fitting(hits, 0, lambda _text: 0)


def shown_line(hit: Hit) -> str:
    """Return a hit as a line of a prompt, to count its tokens."""
    return f"({hit.valid_from:%-d %B %Y}) {hit.content}"
