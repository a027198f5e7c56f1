"""Decide whether a reply clearly repeats a memory, which proves at least that the reply used it."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from uuid import UUID

from slowwave_server.domain.similarity.tokens import tokenise

LEAST_SHARE = 0.5
"""Of the words that only the memory has, a reply that uses it repeats at least this share."""
LEAST_WEIGHT = 3.0
"""So much the repeated words weigh at least: three words, or two names or numbers."""
MAX_CHARACTERS = 20_000
"""So much of a text is read."""
_MARK = 8
"""Characters at the end of a memory's id, as contexts show them."""
_WEIGHTS = {"name": 1.5, "number": 1.5}
_IDENTIFIER = re.compile(r"(?=\S*\d)(?=\S*[^\W\d])\S{3,}|[^\W\d]{2,}[._/][^\W\d]{2,}\S*|(?!(?:19|20)\d\d\Z)\d{3,}\Z")


def cites(reply: str, memory: UUID, content: str, others: Iterable[str]) -> bool:
    """Return True if a reply contains a memory's mark, an identifier that only the memory has, or enough words that
    only it has.

    content: the memory's text. others: texts of people and tools, from which the reply may have taken these words.
    """
    if str(memory)[-_MARK:] in reply:
        return True
    own, said = _words(content), _words(reply)
    for other in others:
        heard = _words(other)
        own = {word: weight for word, weight in own.items() if word not in heard}
    repeated = {word: weight for word, weight in own.items() if word in said}
    if any(map(_IDENTIFIER.match, repeated)):
        return True
    return len(repeated) >= LEAST_SHARE * len(own) and sum(repeated.values()) >= LEAST_WEIGHT


@lru_cache(maxsize=512)
def _words(text: str) -> Mapping[str, float]:
    """Return the content words of a text, stemmed, with their weights."""
    tokens = tokenise(text[:MAX_CHARACTERS])
    return {token.stem: _WEIGHTS.get(token.kind, 1.0) for token in tokens if token.carries_content}
