"""Map errors of the `openai` client to the failures of this package, for chat and for embeddings.

    no connection                           Unanswered, without cost
    time-out, cut connection, 408, 504      Unanswered, unknown cost
    409, 425, 429, other 5xx                Unanswered, without cost; `Retry-After` is passed on
    401, 402, 403, a used-up quota          AccessRefused
    any other 4xx                           ModelFailed

Messages contain only the host, the status and the endpoint's short code, because endpoints quote keys and prompts in
their errors.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from slowwave_server.domain.model_calls import ModelFailed, Unanswered
from slowwave_server.services.llm.drivers import AccessRefused

MAX_RETRY_AFTER_SECONDS = 3600.0
"""Whoever asks for more is asked again after this."""

_REFUSING = frozenset({401, 402, 403})
_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_TRANSIENT = frozenset({408, 409, 425, 429})
_COST_UNKNOWN = frozenset({408, 504})
_SERVER_ERROR = 500
_CODE = re.compile(r"[a-z][a-z_.-]{1,59}")
_UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The endpoint of calls. clock: the current time, aware, because `Retry-After` may be a date."""

    base_url: str
    clock: Callable[[], datetime]

    @property
    def host(self) -> str:
        """Return host and port, without a user and a password."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2] or "endpoint"

    @property
    def key(self) -> str:
        """Return the host and a digest of the full address, as a name for the unit that fails together."""
        digest = sha256(self.base_url.rstrip("/").encode()).hexdigest()
        return f"{self.host}-{digest[:12]}"

    def failure(self, error: openai.APIError | httpx2.HTTPError) -> Unanswered | ModelFailed:
        """Return the failure for an error of the client, so that the caller can release `error` before it raises."""
        if isinstance(error, openai.APIStatusError):
            code = _short(error.code) or _short(error.type)
            headers = error.response.headers
            return self.of_status(error.status_code, code, self._retry_after(headers))
        cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
        if isinstance(cause, _UNSENT):
            return Unanswered(f"{self.host} can't be reached", tokens=0)
        if isinstance(error, openai.APITimeoutError) or isinstance(cause, httpx2.TimeoutException):
            return self.overdue()
        return Unanswered(f"the connection to {self.host} broke before it had answered", tokens=None)

    def overdue(self) -> Unanswered:
        """Return the failure for an exceeded time limit."""
        return Unanswered(f"{self.host} gave no answer in time", tokens=None)

    def of_status(self, status: int, code: str | None, retry_after: float | None = None) -> Unanswered | ModelFailed:
        """Return the failure for an HTTP status. code: the endpoint's own short code."""
        said = f"{self.host} answered {status}" + (f" ({code})" if code else "")
        if status in _REFUSING or code in _QUOTA:
            return AccessRefused(said)
        if status in _TRANSIENT or status >= _SERVER_ERROR:
            return Unanswered(said, tokens=None if status in _COST_UNKNOWN else 0, retry_after=retry_after)
        return ModelFailed(said)

    def _retry_after(self, headers: Any) -> float | None:
        if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
            return min(milliseconds / 1000, MAX_RETRY_AFTER_SECONDS)
        text = headers.get("retry-after")
        seconds = _number(text)
        if seconds is None and text:
            try:
                when = parsedate_to_datetime(text)
            except ValueError:
                return None
            when = when if when.tzinfo else when.replace(tzinfo=UTC)
            seconds = max((when - self.clock()).total_seconds(), 0.0)
        return None if seconds is None else min(seconds, MAX_RETRY_AFTER_SECONDS)


def refusal_words(error: openai.APIStatusError) -> str:
    """Return all that the endpoint said about the reason. The caller may search it but must not store it."""
    return f"{error.param or ''} {error.body if error.body is not None else error.message}"


def _short(code: Any) -> str | None:
    """Return a code in the form that endpoints document: small letters, no digits. A key never has this form."""
    return code if isinstance(code, str) and _CODE.fullmatch(code) else None


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
