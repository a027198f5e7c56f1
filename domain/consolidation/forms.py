"""Compare the form of statements: equal words with different numbers, dates or times, as in a list or a counter.

"Ledger 3 is in drawer 3" and "Ledger 4 is in drawer 4" have one form. A scope raises one question per form, because a
list of n lines would raise n(n-1)/2 questions.
"""

from hashlib import blake2b

from slowwave_server.domain.similarity import read

_COUNTED = frozenset({"number", "date", "time"})
_DIGEST_BYTES = 8


def form_of(content: str) -> str | None:
    """Return a key of the statement's form; None if it contains no number, date or time."""
    tokens = read(content).tokens
    if not any(token.kind in _COUNTED for token in tokens):
        return None
    words = (f"<{token.kind}>" if token.kind in _COUNTED else token.stem for token in tokens)
    return blake2b(" ".join(words).encode(), digest_size=_DIGEST_BYTES).hexdigest()


def shared_form(one: str, other: str) -> str | None:
    """Return the form that two statements share, or None."""
    form = form_of(one)
    return form if form is not None and form == form_of(other) else None
