"""Suggest a name for an unknown setting: its new name, or the nearest known name."""

import difflib
from collections.abc import Iterable

LONGEST_NAME = 200
"""Characters of an unknown name that are compared and shown."""

RENAMED = {
    "memory.auto_flush.turn_seconds": "memory.auto_flush.batch_seconds",
    "SLOWWAVE_MEMORY__AUTO_FLUSH__TURN_SECONDS": "SLOWWAVE_MEMORY__AUTO_FLUSH__BATCH_SECONDS",
}
"""Former names of settings, as keys of a file and as variables."""


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return the end of an error's sentence: `; use 'b' instead`, `; did you mean 'b'?`, or ""."""
    if name in RENAMED:
        return f" was renamed; use {RENAMED[name]!r} instead"
    close = difflib.get_close_matches(name[:LONGEST_NAME], list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""
