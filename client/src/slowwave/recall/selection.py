"""Select the hits to show: those that are relevant enough, add something new, and fit a token budget."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from slowwave.errors import InvalidQuery, shown
from slowwave.recall.hits import Hit
from slowwave.recall.ranking import Why
from slowwave.recall.tokens import estimate

if TYPE_CHECKING:
    from slowwave.recall_requests import SearchRequest

ALIKE = 0.85
"""Share of its words from which on a long hit says what a hit before it says."""
LONG = 20
"""Words. Of a shorter hit one word may be all that is new: it repeats only what holds all of its words."""
FILLING = 60
"""Hits that a search for a budget ranks: a budget may have room for many short ones."""
_WORD = re.compile(r"\w+")


def check_selection(request: "SearchRequest") -> None:
    """Raise `InvalidQuery` for an invalid limit of the hits to show."""
    most = request.max_tokens
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
        raise InvalidQuery(f"max_tokens must be an integer, 0 or more, got {shown(most)}")
    for name, least in (("min_relevance", request.min_relevance), ("min_share", request.min_share)):
        if isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1:
            raise InvalidQuery(f"{name} must be a number from 0 to 1, got {shown(least)}")


def depth(request: "SearchRequest") -> int:
    """Return the number of hits to rank."""
    return request.limit if request.max_tokens is None else max(request.limit, FILLING)


def selected(hits: Iterable[Hit], request: "SearchRequest") -> list[Hit]:
    """Return the ranked hits to show; the caller has left out the irrelevant ones."""
    return (list(hits) if request.max_tokens is None else fitting(hits, request.max_tokens))[: request.limit]


def relevant(hits: Sequence[Hit], least: float, share: float = 0.0) -> list[Hit]:
    """Return the hits that relate to the query closely enough.

    Args:
        hits: the hits of one search.
        least: the lowest relevance.
        share: the lowest share of the strongest hit's evidence: the query's words that a hit contains, plus the cosine.

    Returns:
        The hits in the same order. A companion (pairing.py) has no relevance, and the score of the hit to which it
        belongs: it is kept with that hit.
    """
    cosines = [hit.why.cosine for hit in hits if hit.why and hit.why.cosine is not None]
    # A hit without a vector yet counts as average, as it does in the score.
    average = sum(cosines) / len(cosines) if cosines else 0.0

    def evidence(why: Why) -> float:
        return why.coverage + (average if why.cosine is None else why.cosine)

    enough = share * max((evidence(hit.why) for hit in hits if hit.why), default=0.0)
    weak = [hit.why is not None and ((hit.relevance or 0.0) < least or evidence(hit.why) < enough) for hit in hits]
    scores = {hit.score for hit, is_weak in zip(hits, weak, strict=True) if is_weak}
    return [
        hit
        for hit, is_weak in zip(hits, weak, strict=True)
        if not is_weak and (hit.why is not None or hit.score not in scores)
    ]


def fitting(hits: Iterable[Hit], max_tokens: int, count: Callable[[str], int] = estimate) -> list[Hit]:
    """Choose the hits that fill a budget with the most distinct evidence.

    Args:
        hits: best first.
        max_tokens: the highest number of tokens of the chosen hits, each with its date.
        count: counts the tokens of a text.

    Returns:
        The chosen hits, best first, without those that do not fit or repeat an earlier one. "Maya has a cat" until
        June does not repeat "Maya no longer has a cat", nor does either side of a contradiction repeat the other.
    """
    chosen: list[tuple[Hit, frozenset[str]]] = []
    for hit in hits:
        cost = count(shown_line(hit))
        words = frozenset(_WORD.findall(hit.content.casefold()))
        if cost > max_tokens or any(_repeats(words, said) and _agree(hit, other) for other, said in chosen):
            continue
        max_tokens -= cost
        chosen.append((hit, words))
    return [hit for hit, _ in chosen]


def _repeats(words: frozenset[str], other: frozenset[str]) -> bool:
    return words <= other if len(words) < LONG else len(words & other) >= ALIKE * len(words)


def _agree(hit: Hit, other: Hit) -> bool:
    """Return True if both hits are valid or both have ended, and neither contradicts the other."""
    is_same_state = (hit.valid_to is None) == (other.valid_to is None)
    return is_same_state and hit.id not in other.contradicts and other.id not in hit.contradicts


def distinct(hits: Iterable[Hit]) -> list[Hit]:
    """Return the hits, best first, without those that repeat an earlier one."""
    return fitting(hits, 0, lambda _text: 0)


def shown_line(hit: Hit) -> str:
    """Return a hit as a line of a prompt, to count its tokens."""
    return f"({hit.valid_from:%-d %B %Y}) {hit.content}"
