"""Align two statements: their common words and the words that only one statement has; synonyms and wider words
count as equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from slowwave_server.domain.similarity.lexicon import are_synonyms, is_kind_of
from slowwave_server.domain.similarity.tokens import Token

MOST_PAIRS = 400
"""The most word pairs to check for synonyms and opposites: two long texts with more differences are not the same."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """An alignment. shared: the number of common words; only_a, only_b: the words of only one statement, in order.

    narrower_a, narrower_b: words of one statement for which the other has a wider word (flute: instrument).
    """

    shared: int
    only_a: tuple[Token, ...]
    only_b: tuple[Token, ...]
    narrower_a: tuple[Token, ...]
    narrower_b: tuple[Token, ...]


def align(a: Sequence[Token], b: Sequence[Token]) -> Alignment:
    """Pair content words of one statement with content words of the other."""
    waiting: dict[str, list[int]] = {}
    for at, token in enumerate(b):
        waiting.setdefault(token.stem, []).append(at)
    only_a: list[Token] = []
    for token in a:
        same = waiting.get(token.stem)
        if same:
            same.pop()
        else:
            only_a.append(token)
    shared = len(a) - len(only_a)
    only_b = [b[at] for at in sorted(chain.from_iterable(waiting.values()))]
    narrower_a: list[Token] = []
    narrower_b: list[Token] = []
    if only_a and only_b and len(only_a) * len(only_b) <= MOST_PAIRS:
        _pair(only_a, only_b, None, None)
        shared = len(a) - len(only_a)
        _pair(only_a, only_b, narrower_a, narrower_b)
    return Alignment(shared, tuple(only_a), tuple(only_b), tuple(narrower_a), tuple(narrower_b))


def _pair(
    only_a: list[Token], only_b: list[Token], narrower_a: list[Token] | None, narrower_b: list[Token] | None
) -> None:
    """Remove synonyms from both lists; with lists for the narrower words, remove narrower and wider words."""
    for one in tuple(only_a):
        if one.kind != "word":
            continue
        for other in only_b:
            if other.kind != "word":
                continue
            if narrower_a is None or narrower_b is None:
                found = are_synonyms(one.lemma, other.lemma)
            elif is_kind_of(one.lemma, other.lemma):
                narrower_a.append(one)
                found = True
            else:
                found = is_kind_of(other.lemma, one.lemma)
                if found:
                    narrower_b.append(other)
            if found:
                only_a.remove(one)
                only_b.remove(other)
                break
