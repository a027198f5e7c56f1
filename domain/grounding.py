"""Whether a sentence of a model's stands on what was said: its names, numbers and dates must occur there.

Must not know: what is asked of a model.
"""

from collections.abc import Iterable

from slowwave_server.domain.similarity.tokens import tokenise

_CHECKED = frozenset({"name", "number", "date", "time"})


def not_said(text: str, said: Iterable[str]) -> tuple[str, ...]:
    """The names, numbers, dates and times of `text` that no text of `said` has, in their order; () where it has all."""
    words = {form for part in said for token in tokenise(part) for form in (token.lemma, token.lower)}
    return tuple(
        token.text
        for token in tokenise(text)
        if token.kind in _CHECKED and token.lemma not in words and token.lower not in words
    )
