"""Find wallets' seed phrases: twelve or more words near a word that announces such a phrase.

No list of the words that wallets use is needed: such words are short, and few of them are function words.
"""

from slowwave.lazy_patterns import lazy_pattern
from slowwave.redaction.words import CJK, GRAMMAR

NEAR = 420
"""Characters around the announcing word in which a phrase is looked for."""
LEAST = 11
_WORD = lazy_pattern(rf"[^\W\d_{CJK}]+")
_COST = 3
"""What a word of grammar costs, against one for each other word."""


def phrase_near(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Find a phrase after or before the announcing word at text[start:end]."""
    behind = _densest(text, end, min(len(text), end + NEAR))
    return behind or _densest(text, max(0, start - NEAR), start)


def _densest(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the run of short words with the fewest function words, if it is long enough."""
    best, total, begin = (0, 0, 0), 0, 0
    last = start
    commas = text.count(",", start, end) >= LEAST - 1
    for word in _WORD.finditer(text, start, end):
        gap = text[last : word.start()]
        if gap.strip(" \t\n,\"'`" if commas else " \t\n\"'`"):
            total = 0
        # no word of a wallet is longer
        good = word[0].isascii() and len(word[0]) <= 8 and word[0].lower() not in GRAMMAR
        if total <= 0:
            total, begin = 0, word.start()
        total += 1 if good else -_COST
        if good and total > best[0]:
            best = (total, begin, word.end())
        last = word.end()
    return best[1:] if best[0] >= LEAST else None
