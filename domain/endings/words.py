"""Words for statements about an end: distinctive words, which identify a thing, and generic words."""

import re

from slowwave_server.domain.similarity import read
from slowwave_server.domain.similarity.lexicon import stem

_GENERIC = frozenset(
    stem(word)
    for word in (
        "plan idea project proposal decision approach scheme thing stuff booking reservation option version draft list "
        "step part session time day week month trip event meeting party launch strategy initiative concept rule "
        "instruction requirement request preference note point way kind sort rest other same choice "
        "use do make give take keep put get go have be send write add include show tell say ask try start stop set let "
        "help want need please again always never instruct user include provide every "
        "answer reply respond response message call"
    ).split()
)
"""Stems that many statements share. A thing needs another word to have a name."""


_COPIED = re.compile(r"\b(b?cc)(?:'d|-?ed|['-]?ing)\b", re.IGNORECASE)
"""Verb forms that dictionaries lack: "cc'ing"."""


def stems(text: str) -> frozenset[str]:
    """Return the stems of all content words of a text."""
    return read(_COPIED.sub(r"\1", text)).distinct_stems


def distinctive(text: str) -> frozenset[str]:
    """Return the stems of a text that identify a thing."""
    return stems(text) - _GENERIC


def naming(text: str) -> str:
    """Return the distinctive words of a text in their original form, for a search."""
    return " ".join(token.text for token in read(text).tokens if token.carries_content and token.stem not in _GENERIC)
