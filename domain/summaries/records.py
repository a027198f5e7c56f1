"""Read a tool call's record: the arguments, identifiers from the answer, and amounts paid or refunded.

If both the arguments and the answer contain a field, the argument counts, because an answer may still show the old
state. In a list of payments, a payment counts only if no earlier answer about the same object showed it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from slowwave_server.domain.extraction.tools import Call, may_show, pairs, worth_showing

_LIST = re.compile(r"\"?(?P<key>[a-z_]{1,40})\"?: (?P<rows>\[.*\])")
_MARK = re.compile(r"(?:^|_)(?:id|ids|number|code|ref|reference)$")
_NO_NEWS = re.compile(r"(?:^|_)(?:user|customer|account|payment)(?:$|_)|^(?:first|last)_name$")
"""Fields of the account holder: other lines of the day name the account, and it is the same in each call."""
_COUNTS = re.compile(r"(?:^|_)(?:total|nonfree|count|quantity|baggages?|bags?|passengers?|seats?|insurance)(?:$|_)")
_NEW = re.compile(r"(?:^|_)(?:price|cost|fee|refund|balance|amount)(?:$|_)|^total$")
"""Fields of an answer that the call could not know."""


def details_of(call: Call) -> dict[str, str]:
    """Return the fields of the arguments, then the fields that the answer adds."""
    told: dict[str, str] = {}
    for key, value in call.arguments:
        name = key.split(".")[-1]
        counts = _COUNTS.search(name) is not None and value != "0" and may_show(key, value)
        if (worth_showing(key, value) or counts) and not _is_no_news(name, value):
            told.setdefault(name, value)
    marked = any(is_target(key, call) for key in told)
    for key, value in pairs(call.answer):
        name = key.split(".")[-1]
        fresh = name not in told and value not in told.values() and not _is_no_news(name, value)
        # `amounts_of` reads the amounts of a list: those of earlier payments are no news.
        new = _NEW.search(name) and ", " not in value
        adds = (_MARK.search(name) and not marked) or new or not call.arguments
        if fresh and adds and worth_showing(key, value):
            told[name] = value
    return told


def is_target(key: str, call: Call) -> bool:
    """Return True if a field identifies the call's object: the reservation_id of cancel_reservation."""
    return _MARK.search(key) is not None and key.split("_", maxsplit=1)[0] in call.name.lower()


def amounts_of(call: Call, before: Sequence[Call]) -> list[float]:
    """Return the amounts paid (above zero) and refunded (below zero). before: all earlier calls."""
    if call.error is not None or not call.changes_state:
        return []
    rows = _amounts(call)
    known = [_amounts(one) for one in before if one.seqs[-1] < call.seqs[0] and _same(one, call) and _amounts(one)]
    if known:
        old = known[-1]
        return rows[len(old) :] if rows[: len(old)] == old else []
    if rows and rows[-1] < 0:
        first = next((at for at in range(len(rows) - 1, -1, -1) if rows[at] >= 0), -1)
        return rows[first + 1 :]
    if not _names_target(call):
        return rows
    return rows[-1:] if len(rows) > 1 else []


def _is_no_news(name: str, value: str) -> bool:
    return _NO_NEWS.search(name) is not None or value in {"0", "no", "none"}


def _names_target(call: Call) -> bool:
    """Return True if the call passes an object's identifier and the answer repeats it: it changes that object."""
    told = set(pairs(call.answer))
    return any(is_target(key, call) and (key, value) in told for key, value in call.arguments)


def _same(one: Call, other: Call) -> bool:
    """Return True if both answers show the same object, by their first identifiers."""
    first = _first_mark(one)
    return first is not None and first == _first_mark(other)


def _first_mark(call: Call) -> tuple[str, str] | None:
    told = pairs(call.answer)
    return next(((key, value) for key, value in told if _MARK.search(key) and not _NO_NEWS.search(key)), None)


def _amounts(call: Call) -> list[float]:
    """Return the amounts in the answer's first list that has amounts, such as its payments."""
    return next(_lists(call.answer), [])


def _lists(text: str) -> Iterator[list[float]]:
    for line in text.split("\n"):
        match = _LIST.match(line)
        amounts = [row["amount"] for row in _rows(match["rows"]) if _is_number(row.get("amount"))] if match else []
        if amounts:
            yield amounts


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _rows(text: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [row for row in found if isinstance(row, dict)]
