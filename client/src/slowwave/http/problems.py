"""Map a gateway's answers to the client's exceptions."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from slowwave.changes import CursorExpired
from slowwave.errors import (
    CannotChange,
    InvalidMessage,
    NotAllowed,
    NotFound,
    RateLimited,
    Refused,
    ScopeConflict,
    SlowwaveError,
    SpoolFull,
    StoreUnavailable,
    TooLarge,
    WasForgotten,
)

PASSING = frozenset({408, 429, 502, 503, 504})
"""Statuses after which the same call may succeed."""
IN_PROGRESS = "in-progress"
DEFAULT_WAIT_SECONDS = 0.5

_BY_NAME: Mapping[str, type[SlowwaveError]] = {
    "scope-conflict": ScopeConflict,
    "was-forgotten": WasForgotten,
    "refused": Refused,
    "spool-full": SpoolFull,
    "idempotency-mismatch": InvalidMessage,
    "cursor-expired": CursorExpired,
}
_BY_STATUS: Mapping[int, type[SlowwaveError]] = {
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    409: CannotChange,
    413: TooLarge,
}
_CLIENT_ERRORS = range(400, 500)


def passes(status: int, body: Mapping[str, Any]) -> bool:
    """Return True if the same call may succeed later."""
    return status in PASSING or (status == 409 and name_of(body) == IN_PROGRESS)  # noqa: PLR2004


def name_of(body: Mapping[str, Any]) -> str:
    """Return the last part of a problem's type."""
    return str(body.get("type", "")).rpartition("/")[2]


def error_of(
    status: int, body: Mapping[str, Any], headers: Mapping[str, str], invalid: type[SlowwaveError]
) -> SlowwaveError:
    """Return the exception for an answer. invalid: the exception class for an invalid call."""
    text = str(body.get("detail") or body.get("title") or f"the gateway answers {status}")
    name = name_of(body)
    if name in _BY_NAME:
        return _BY_NAME[name](text)
    if status == 429:  # noqa: PLR2004
        return RateLimited(text, wait_of(headers))
    if status in _BY_STATUS and not passes(status, body):
        return _BY_STATUS[status](text)
    if status in _CLIENT_ERRORS and not passes(status, body):
        return invalid(text)
    return StoreUnavailable(text)


def wait_of(headers: Mapping[str, str]) -> float:
    """Return the seconds of the header `Retry-After`, or half a second without the header."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        until, now = parsedate_to_datetime(value), parsedate_to_datetime(headers.get("date", ""))
    except ValueError:
        return DEFAULT_WAIT_SECONDS
    return max(0.0, (until - now).total_seconds())
