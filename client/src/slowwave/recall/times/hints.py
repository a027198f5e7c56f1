"""A fast check of a query for any word about time. Most queries have none, and need no further parsing."""

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "de", "fr", "es")
_TIMES = frozenset("MWSUTnd=h")
"""Tags of words that make a time; those of the others mean nothing without one of these or a digit."""
_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")


@cache
def data(code: str) -> dict[str, Any]:
    """Return the words of a language from its file (words.py)."""
    loaded: dict[str, Any] = json.loads(
        (files("slowwave.recall.times") / "languages" / f"{code}.json").read_text("utf-8")
    )
    return loaded


def hints_at_time(lower: str) -> bool:
    """Return True if a text in lower case may contain a time."""
    words, expressions = _hints()
    if _DIGIT.search(lower) is not None or not words.isdisjoint(_WORD.findall(lower)):
        return True
    return any(expression in lower for expression in expressions)


@cache
def _hints() -> tuple[frozenset[str], frozenset[str]]:
    """Return the longest word of each word or expression for a time, and words and expressions that ask for a time."""
    hints: set[str] = set()
    for code in LANGUAGES:
        known = data(code)
        said = [words.split() for tag, words in known["tags"].items() if tag[0] in _TIMES]
        said += [words.split() for words in known["anchor"].values()]
        hints |= {max(word.split("_"), key=len) for words in said for word in words}
        hints |= set(known["hints"].split())
    expressions = {hint for hint in hints if "_" in hint}
    return frozenset(hints - expressions), frozenset(hint.replace("_", " ") for hint in expressions)
