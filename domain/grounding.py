"""Check that the source text supports a sentence of a model: its names, numbers and dates must occur in the source."""

from collections.abc import Iterable

from slowwave_server.domain.similarity.tokens import tokenise

_CHECKED = frozenset({"name", "number", "date", "time"})


def not_said(text: str, said: Iterable[str]) -> tuple[str, ...]:
    """Return the names, numbers, dates and times of `text` that no text of `said` contains, in order."""
    words = {form for part in said for token in tokenise(part) for form in (token.lemma, token.lower)}
    return tuple(
        token.text
        for token in tokenise(text)
        if token.kind in _CHECKED and token.lemma not in words and token.lower not in words
    )
