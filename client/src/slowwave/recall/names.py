"""Find the words of a query that it writes like names: "Maya", "JFK", "59XX6W", "mia_li_3668".

A question about an unknown person has words such as "booking" in common with any customer's texts. Its names tell
whether a scope knows the answer, so they count more for the relevance (`ranking.py`).
"""

import re
from collections.abc import Sequence

_WORD = re.compile(r"\w[\w'\u2019-]*")
_PART = re.compile(r"\w+")
_OPENING = " \t'\"(*[\u2018\u2019\u201c\u201d-"
_ENDS = frozenset(".!?:\u2026\n")
_SHORTEST = 3
_POSSESSIVES = ("'s", "\u2019s")


def names_in(query: str) -> list[frozenset[str]]:
    """Return the names of a query, each as the set of its words in lower case.

    A word of a name has a digit, or a capital letter at its beginning. Every sentence begins with a capital letter, so
    its first word needs a digit. Words with only blanks between them belong to one name, up to a possessive.

    Example:
        >>> [sorted(name) for name in names_in("Is Mia Li still flying to Rome with 59XX6W?")]
        [['li', 'mia'], ['rome'], ['59xx6w']]
    """
    found: list[set[str]] = []
    end = None
    for match in _WORD.finditer(query):
        word = match.group()
        if not _has_digit(word) and not (word[0].isupper() and not _begins_a_sentence(query[: match.start()])):
            end = None
            continue
        if end is None or query[end : match.start()].strip(" "):
            found.append(set())
        found[-1].update(_PART.findall(word.lower()))
        end = None if word.endswith(_POSSESSIVES) else match.end()
    return list(map(frozenset, found))


def name_of(lexeme: str, names: Sequence[frozenset[str]]) -> int | None:
    """Return the index of the name to which a stem belongs, the number of names for any other digits, else None."""
    beginning = lexeme[: max(_SHORTEST, len(lexeme) - 1)]
    alike = [
        (abs(len(word) - len(lexeme)), index)
        for index, name in enumerate(names)
        for word in name
        if len(word) > 1 and (word.startswith(beginning) or lexeme.startswith(word))
    ]
    if alike:
        return min(alike)[1]
    return len(names) if _has_digit(lexeme) else None


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _begins_a_sentence(before: str) -> bool:
    text = before.rstrip(_OPENING)
    return not text or text[-1] in _ENDS
