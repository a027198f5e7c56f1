"""Find the words of a query that it writes like names: "Maya", "JFK", "59XX6W", "mia_li_3668".

A question about an unknown person has words such as "booking" in common with any customer's texts. Its names tell
whether a scope knows the answer, so they count more for the relevance (`ranking.py`).
"""

import re

_WORD = re.compile(r"\w[\w'\u2019-]*")
_PART = re.compile(r"\w+")
_OPENING = " \t'\"(*[\u2018\u2019\u201c\u201d-"
_ENDS = frozenset(".!?:\u2026\n")
_SHORTEST = 3


def names_in(query: str) -> frozenset[str]:
    """Return the names of a query in lower case, and their parts.

    A name is a word with a digit, or with a capital letter at its beginning. Every sentence begins with a capital
    letter, so its first word needs a digit.

    Example:
        >>> sorted(names_in("Is Mia still flying to Rome with 59XX6W?"))
        ['59xx6w', 'mia', 'rome']
    """
    found: set[str] = set()
    for match in _WORD.finditer(query):
        word = match.group()
        if _has_digit(word) or (word[0].isupper() and not _begins_a_sentence(query[: match.start()])):
            found.update(_PART.findall(word.lower()))
    return frozenset(found)


def is_name(lexeme: str, names: frozenset[str]) -> bool:
    """Return True if the stem belongs to one of the names."""
    beginning = lexeme[: max(_SHORTEST, len(lexeme) - 1)]
    return _has_digit(lexeme) or any(
        name.startswith(beginning) or lexeme.startswith(name) for name in names if len(name) > 1
    )


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _begins_a_sentence(before: str) -> bool:
    text = before.rstrip(_OPENING)
    return not text or text[-1] in _ENDS
