"""HTTP calls to a gateway with JSON bodies, retried while a retry can help and the caller waits."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from slowwave.errors import InvalidQuery, InvalidSettings, SlowwaveError, StoreUnavailable
from slowwave.http.problems import DEFAULT_WAIT_SECONDS, error_of, passes, wait_of
from slowwave.version import VERSION

try:
    import httpx2
except ImportError:
    raise InvalidSettings(
        "a client over HTTP needs the package httpx2: install the extra `http` of slowwave (docs/install.md)"
    ) from None

MAX_CONNECTIONS = 8
CONNECT_SECONDS = 3.0
ANSWER_SECONDS = 12.0
"""More than a gateway waits for a worker, and as long as the client waits for Postgres."""
TIMEOUT_SECONDS = 10.0
"""A call that may be tried again is tried for so long."""
_KEY_CHARACTERS = 200
_BROKEN = (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError)


class Answer(NamedTuple):
    """An answer with a status below 300."""

    status: int
    body: dict[str, Any]
    headers: Mapping[str, str]


class Stream:
    """The lines of an endless answer."""

    def __init__(self, answer: "httpx2.Response") -> None:
        self.lines = answer.iter_lines()
        self._answer = answer

    def hang_up(self) -> None:
        """End the stream from another thread, also during a read."""
        connection = self._answer.extensions["network_stream"].get_extra_info("socket")
        with suppress(OSError):
            connection.shutdown(SHUT_RDWR)


def path_of(*parts: str) -> str:
    """Return a path below /v1; names may contain any character."""
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


class Wire:
    """Connections to one gateway with one key, shared by threads; none before a call. Raises InvalidSettings."""

    def __init__(self, url: str, key: str, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.username:
            raise InvalidSettings("url must be the address of a gateway, such as https://memory.example.com")
        if not key.isascii() or not key.isprintable() or not 0 < len(key) <= _KEY_CHARACTERS or " " in key:
            raise InvalidSettings("key must be an API key such as sw_…; `slowwave admin keys add` makes one")
        self.url = url.rstrip("/")
        self._key = key
        self._timeout_seconds = timeout_seconds
        self._client = self._open()

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        key: str | None = None,
        taken: str | None = None,
        invalid: type[SlowwaveError] = InvalidQuery,
        again: bool = True,
    ) -> Answer:
        """Send one call.

        key: its idempotency key. taken: the time (ISO 8601) at which the host accepted the call. invalid: the exception
        class for an invalid call. again: True to retry for up to ten seconds while the gateway is unavailable or limits
        the rate. With False, the call is sent a second time only if its connection breaks. Raises StoreUnavailable,
        RateLimited, NotAllowed, NotFound and the gateway's other errors.
        """
        request = self._request(method, path, body, query, key, taken)
        end = time.monotonic() + self._timeout_seconds if again else 0.0
        wait = DEFAULT_WAIT_SECONDS
        while True:
            try:
                status, found, headers = self._send(request)
            except httpx2.HTTPError as error:
                failure: SlowwaveError = StoreUnavailable(f"the gateway at {self.url} can't be reached: {error!r}")
                pause = wait
            else:
                if status < 300:  # noqa: PLR2004
                    return Answer(status, found, headers)
                failure = error_of(status, found, headers, invalid)
                if not passes(status, found):
                    raise failure
                pause = max(wait, wait_of(headers))
            if time.monotonic() + pause > end:
                raise failure
            time.sleep(pause)
            wait *= 2

    @contextmanager
    def stream(
        self, path: str, query: Sequence[tuple[str, str]], after: str | None, seconds: float
    ) -> "Iterator[Stream]":
        """Return the lines of a stream of server-sent events, after the event with this id.

        Raises TimeoutError after this many seconds of silence, StoreUnavailable if the stream breaks, and the gateway's
        other errors.
        """
        headers = {"Accept": "text/event-stream"} | ({} if after is None else {"Last-Event-ID": after})
        timeout = httpx2.Timeout(seconds, connect=CONNECT_SECONDS)
        address = self.url + path
        try:
            with self._client.stream("GET", address, params=list(query), headers=headers, timeout=timeout) as answer:
                if answer.status_code >= 300:  # noqa: PLR2004
                    answer.read()
                    raise error_of(answer.status_code, _json_of(answer), answer.headers, InvalidQuery)
                yield Stream(answer)
        except httpx2.ReadTimeout:
            raise TimeoutError from None
        except httpx2.HTTPError as error:
            raise StoreUnavailable(f"the gateway at {self.url} can't be reached: {error!r}") from error

    def renew(self) -> None:
        """In a forked child: open new connections, and leave the parent's connections unused."""
        self._inherited = self._client
        self._client = self._open()

    def close(self) -> None:
        self._client.close()

    def _open(self) -> "httpx2.Client":
        return httpx2.Client(
            headers={"Authorization": f"Bearer {self._key}", "User-Agent": f"slowwave-python/{VERSION}"},
            timeout=httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_CONNECTIONS),
        )

    def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        query: Mapping[str, Any] | None,
        key: str | None,
        taken: str | None,
    ) -> "httpx2.Request":
        headers = {"Accept": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        if taken is not None:
            headers["Slowwave-Taken"] = taken
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        given = {name: value for name, value in (query or {}).items() if value is not None}
        return self._client.build_request(method, self.url + path, content=content, params=given, headers=headers)

    def _send(self, request: "httpx2.Request") -> tuple[int, dict[str, Any], Mapping[str, str]]:
        try:
            answer = self._client.send(request)
        except _BROKEN:
            # A gateway that was restarted has closed older connections; an idempotency key makes the second call
            # harmless.
            answer = self._client.send(request)
        return answer.status_code, _json_of(answer), answer.headers


def _json_of(answer: "httpx2.Response") -> dict[str, Any]:
    try:
        body = answer.json() if answer.content else {}
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
