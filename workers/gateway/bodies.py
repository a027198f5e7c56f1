"""Read the body of a request within limits of size and time before it is parsed, then as strict JSON."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from fastapi import Request
from starlette.requests import ClientDisconnect

from slowwave_server.workers.gateway.problems import Problem

CLOSES = {"Connection": "close"}
"""The rest of the body is not waited for."""


class Given(Request):
    """A request with its body, read and parsed."""

    def __init__(self, request: Request, read: bytes, parsed: Any) -> None:
        super().__init__(request.scope, request.receive)
        self._read = read
        self.parsed = parsed

    async def body(self) -> bytes:
        """The body as it arrived."""
        return self._read

    async def json(self) -> Any:
        """The body after parsing."""
        return self.parsed


async def take_body(request: Request, most: int, seconds: float) -> Given:
    """Return the request with its body. Raises Problem if the body is too large, too slow, or not JSON."""
    declared = request.headers.get("content-length")
    if declared is not None and (not (declared.isascii() and declared.isdigit()) or int(declared[:20]) > most):
        raise _too_large(most)
    try:
        async with asyncio.timeout(seconds):
            body = await _read(request, most)
    except TimeoutError:
        raise Problem(
            408, "body-too-slow", f"the body did not arrive within {seconds:g} seconds", headers=CLOSES
        ) from None
    except ClientDisconnect:
        raise Problem(400, "not-json", "the connection ended before the body did", headers=CLOSES) from None
    if not body:
        return Given(request, b"", None)
    _check_kind(request)
    return Given(request, body, parse(body))


async def _read(request: Request, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)
    return b"".join(parts)


def _too_large(most: int) -> Problem:
    detail = f"a body has at most {most:,} bytes"
    return Problem(413, "too-large", detail, cure="send fewer messages in one call", headers=CLOSES)


def _check_kind(request: Request) -> None:
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise Problem(
            415, "not-json", f"a body must have no content-encoding, got {encoding[:40]!r}",
            headers={"Accept-Encoding": "identity"},
        )  # fmt: skip
    kind, _, rest = request.headers.get("content-type", "").partition(";")
    charset = rest.strip().lower().removeprefix("charset=").strip('"') if "charset" in rest.lower() else "utf-8"
    if kind.strip().lower() != "application/json" or charset not in {"utf-8", "utf8"}:
        got = request.headers.get("content-type", "")[:60]
        raise Problem(415, "not-json", f"a body must be application/json in UTF-8, got {got!r}")


def parse(body: bytes) -> Any:
    """Parse a body. Raises Problem if it is not JSON, repeats a name in an object, or is nested too deeply."""
    try:
        return json.loads(body.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        why = f"byte {error.start + 1} is not UTF-8"
    except RecursionError:
        why = "it is nested too deeply"
    except ValueError as error:
        why = str(error)[:200]
    raise Problem(400, "not-json", f"the body is not JSON: {why}")


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counted = Counter(name for name, _ in pairs)
        twice = counted.most_common(1)[0][0]
        raise ValueError(f"the name {twice[:60]!r} occurs twice in one object")
    return found


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
