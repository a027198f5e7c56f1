"""Find what two statements exchange: what they deny ("barks but never bites", "bites but never barks"), or the order of
two events ("A before B", "B before A").

Such statements have the same words, so that scores and models of meaning take them for equal.
"""

import re
from collections.abc import Iterator

from slowwave_server.domain.similarity.findings import Finding
from slowwave_server.domain.similarity.polarity import plainly
from slowwave_server.domain.similarity.reading import Reading
from slowwave_server.domain.similarity.tokens import Token, tokenise

_CLAUSES = re.compile(
    r"(?i)[,;:=]\s| [-\N{EN DASH}\N{EM DASH}] |\.\s|"
    r"\b(?:and|but|because|while|whilst|whereas|although|though|so that|since|as|nor)\b"
)
_ORDER = re.compile(r"(?i)\b(?:(?P<first>before|prior to|ahead of)|after|once|following|as soon as)\b")
_SHARED = 0.4
"""The share of the longer statement's words that the other one must have, too."""


def find_exchange(a: Reading, b: Reading) -> Finding | None:
    """Return a conflict if each denies what the other one states, or if they tell two events in opposite orders.

    Both must be about one matter, because long statements share some words by chance.
    """
    if len(a.distinct_stems & b.distinct_stems) < _SHARED * max(len(a.distinct_stems), len(b.distinct_stems)):
        return None
    if a.negated and b.negated and _crossed(_by_denial(a.text), _by_denial(b.text)):
        return Finding("conflict", "each denies what the other says")
    if _opposite_orders(a.text, b.text):
        return Finding("conflict", "the order is reversed")
    return None


def _crossed(one: tuple[frozenset[str], frozenset[str]], other: tuple[frozenset[str], frozenset[str]]) -> bool:
    return bool(one[0] & other[1] and one[1] & other[0])


def _by_denial(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems that only clauses with a denial contain, and those that only other clauses contain."""
    denied: set[str] = set()
    told: set[str] = set()
    for part in _CLAUSES.split(plainly(text)):
        tokens = tokenise(part)
        (denied if any(token.kind == "negator" for token in tokens) else told).update(_stems(tokens))
    return frozenset(denied - told), frozenset(told - denied)


def _opposite_orders(a: str, b: str) -> bool:
    if not _ORDER.search(a) or not _ORDER.search(b):
        return False
    one, other = _in_order(plainly(a)), _in_order(plainly(b))
    if not _crossed(one, other):
        return False
    crossed = len(one[0] & other[1]) + len(one[1] & other[0])
    return crossed > len(one[0] & other[0]) + len(one[1] & other[1])


def _in_order(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of the earlier event, and those of the later one; none if the text gives no order."""
    found = _ORDER.search(text)
    if found is None:
        return frozenset(), frozenset()
    main, sub = text[: found.start()], text[found.end() :]
    if not main.strip():
        sub, _, main = sub.partition(",")
    of_main, of_sub = (frozenset(_stems(tokenise(part))) for part in (main, sub))
    earlier, later = (of_main, of_sub) if found["first"] else (of_sub, of_main)
    return earlier - later, later - earlier


def _stems(tokens: tuple[Token, ...]) -> Iterator[str]:
    return (token.stem for token in tokens if token.carries_content)
