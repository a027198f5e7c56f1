"""Recognize an outline of headings only: it names the parts of a document ("Summary; Goals"), not their content."""

import re
from collections.abc import Iterable

from slowwave_server.domain.extraction.standalone import content_words
from slowwave_server.domain.similarity.lexicon import is_common_word

_NUMBERING = re.compile(
    r"\b(?:chapter|day|goal|level|module|option|part|phase|scenario|section|stage|step|top|week)s? ?#?"
    r"\d+(?:[-\u2013.]\d+)*:?|^(?:\d+|[a-z])[.)] ",
    re.IGNORECASE,
)
_VALUE = re.compile(r"\d|\w: \S|\w[_/.@]\w|[`\"→$€£%=]")
"""A figure, a value after a colon, an identifier, a quotation."""
_PART = re.compile(r"[-/'\u2019]")
_OPTIONS = re.compile(r"\b(?:alternatives|candidates|choices|ideas|options|suggestions)\b", re.IGNORECASE)


def only_headings(points: Iterable[str]) -> bool:
    """Return True if no point contains a value or a name: all their words are in the dictionary."""
    return not any(_says_something(_NUMBERING.sub("", point)) for point in points)


def is_menu(title: str, points: Iterable[str]) -> bool:
    """Return True if an outline only lists what can be chosen: by its title, or because each point has one label."""
    labels = [point.partition(": ")[0] if ": " in point else point for point in points]
    return _OPTIONS.search(title) is not None or (len(labels) > 1 and len(set(labels)) == 1)


def _says_something(point: str) -> bool:
    if _VALUE.search(point) is not None:
        return True
    parts = (part for word in content_words(point) for part in _PART.split(word))
    return any(len(part) > 1 and not is_common_word(part) for part in parts)
