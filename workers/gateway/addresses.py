"""Decode paths of requests: `%2F` is part of a name and does not separate parts, because names may contain slashes."""

import re
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Receive, Scope, Send

NO_TEXT = "address_is_no_text"
_SLASH = re.compile(rb"%2f", re.IGNORECASE)


class WithSlashes:
    """Replaces each `%2F` by a NUL, which no name can contain; `GatewayRoute` turns the NUL into a slash."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw: bytes = scope.get("raw_path") or b""
        if scope["type"] == "http" and b"%" in raw:
            parts = [unquote_to_bytes(part) for part in _SLASH.split(raw)]
            state = scope.setdefault("state", {})
            try:
                scope = {**scope, "path": b"\0".join(parts).decode("utf-8")}
            except UnicodeDecodeError:
                state[NO_TEXT] = True
            if any(b"\0" in part for part in parts):
                state[NO_TEXT] = True
        await self._app(scope, receive, send)
