"""Split long texts into pieces, and limit the number of items that a text may produce, by its length.

Every function in this module takes time linear in the length of the text.
"""

from collections.abc import Iterator

_CUTS = (("\n#", 1), ("\n\n", 2), ("\n", 1), (". ", 2), ("? ", 2), ("! ", 2), (" ", 1))
"""Marks before or after which a text may be cut, best first, with the length of the mark that stays in the first
piece.
"""

LONG = 12_000
"""Characters. The limit on items of a text grows by one share per this many further characters."""
MOST_SHARES = 4


def pieces(text: str, size: int) -> Iterator[str]:
    """Cut a text into pieces of at most `size` (from 2) characters that give the text if joined.

    A piece ends before a heading, else at an empty line, a line break, the end of a sentence or a space, if one is in
    its second half.
    """
    at = 0
    while len(text) - at > size:
        end = _cut(text, at + size // 2, at + size)
        yield text[at:end]
        at = end
    if at < len(text):
        yield text[at:]


def ends(text: str, size: int) -> tuple[str, str]:
    """Return the beginning and end of a text, at most `size` characters, around a mark, and the middle that it
    replaces.

    A short text is shown whole. Both cuts follow the structure of the text, like those of `pieces`.
    """
    if len(text) <= size:
        return text, ""
    head = _cut(text, size // 4, max(size // 2, 1))
    last = len(text) - size // 2
    tail = _cut(text, last, min(last + size // 4, len(text)))
    middle = text[head:tail]
    return f"{text[:head].rstrip()}\n[… {len(middle)} characters left out …]\n{text[tail:].lstrip()}", middle


def at_most(base: int, length: int) -> int:
    """Return the most items that a text may produce: `base` for each `LONG` characters, capped."""
    return base * min(MOST_SHARES, 1 + max(0, length - 1) // LONG)


def _cut(text: str, first: int, last: int) -> int:
    """Return the best position for a cut between two positions; the second position if none is good."""
    for mark, kept in _CUTS:
        found = text.rfind(mark, first, last)
        if found >= 0:
            return found + kept
    return last
