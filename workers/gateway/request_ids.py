"""Middleware for the request id, in the answer, in logs and in traces; and for security headers for browsers."""

import logging
import re
import secrets
import time

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from slowwave.tracing import request_span, valid_traceparent
from slowwave_server.services import log_context

log = logging.getLogger("slowwave_server.workers.gateway.requests")

HEADER = "X-Request-Id"
_VALID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_NAME = HEADER.lower().encode()
_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
)


def request_id_of(scope: Scope) -> str:
    """Return the id of a request that passed this middleware."""
    found: str = scope["state"]["request_id"]
    return found


class Identified:
    """Uses the id in a request if it has the right form, or makes one. told: True if each request is logged."""

    def __init__(self, app: ASGIApp, *, told: bool) -> None:
        self._app = app
        self._told = told

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get(HEADER, "")
        request_id = given if _VALID.fullmatch(given) else secrets.token_hex(12)
        scope.setdefault("state", {})["request_id"] = request_id
        began, status = time.perf_counter(), 500

        async def identified(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                named = {name for name, _ in message["headers"]}
                always = (entry for entry in _ALWAYS if entry[0] not in named)
                message["headers"] = [*message["headers"], (_NAME, request_id.encode()), *always]
            await send(message)

        log_context.clear()
        log_context.bind(request=request_id)
        with request_span(f"{scope['method']} gateway", valid_traceparent(headers.get("traceparent")), request_id):
            await self._app(scope, receive, identified)
        if self._told:
            # Do not log the path: it contains names of agents and sessions, which a route adds to the line if needed.
            route = getattr(scope.get("route"), "path", "none")
            spent = (time.perf_counter() - began) * 1000
            log.info("%s %s answered %d in %.1f ms", scope["method"], route, status, spent)
