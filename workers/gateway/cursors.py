"""Cursors: the position at which a page of a list ended, as an opaque text for the caller."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from unicodedata import category

from slowwave.errors import InvalidQuery

MAX_CHARACTERS = 2000

Place = TypeVar("Place")
Item = TypeVar("Item")


def write_cursor(*place: object) -> str:
    """Return the cursor of a position: texts and numbers, times in ISO 8601."""
    written = json.dumps([value if isinstance(value, (int, str)) or value is None else str(value) for value in place])
    return urlsafe_b64encode(written.encode()).decode().rstrip("=")


def read_cursor(cursor: str | None, form: Callable[..., Place]) -> Place | None:
    """Return the position in a cursor, built by `form` from its parts; None without a cursor. Raises InvalidQuery."""
    if cursor is None:
        return None
    try:
        return form(*_parts(cursor))
    except (ValueError, TypeError, RecursionError, OverflowError):
        told = "cursor must be the next_cursor of a page of this list; leave it out for the first page"
        raise InvalidQuery(told) from None


def _parts(cursor: str) -> Sequence[Any]:
    parts = json.loads(urlsafe_b64decode((cursor + "=" * (-len(cursor) % 4)).encode("ascii")))
    if not isinstance(parts, list) or not parts:
        raise TypeError(cursor)
    for part in parts:
        # A character that no text in Postgres contains.
        if isinstance(part, str) and any(category(character) in {"Cc", "Cs"} for character in part):
            raise ValueError(cursor)
    return parts


def text_part(part: object) -> str:
    """Return a part that must be text. Raises TypeError."""
    if not isinstance(part, str):
        raise TypeError(part)
    return part


def number_part(part: object) -> int:
    """Return a part that must be the number of a row. Raises TypeError and ValueError."""
    if not isinstance(part, int) or isinstance(part, bool):
        raise TypeError(part)
    if not 0 <= part < 2**63:
        raise ValueError(part)
    return part


def page_of(found: Sequence[Item], limit: int, place: Callable[[Item], Sequence[Any]]) -> tuple[list[Item], str | None]:
    """Return the items of a page and the cursor after it, from `limit + 1` items."""
    items = list(found[:limit])
    return items, write_cursor(*place(items[-1])) if len(found) > limit else None
