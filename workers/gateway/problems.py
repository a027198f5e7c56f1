"""Errors as application/problem+json (RFC 9457), in the sentences of the command line and the console."""

import json
import logging
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from psycopg import Error as DriverError
from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from slowwave import errors
from slowwave.postgres import NotPermitted
from slowwave_server.models.driver import WrongSchema
from slowwave_server.services.lookup import UnknownName
from slowwave_server.workers.gateway.caller import NotThere, RightMissing
from slowwave_server.workers.gateway.walls import KeyRefused
from slowwave_server.workers.shared.failures import UNAVAILABLE, explain_failure
from slowwave_server.workers.shared.shell import Shell

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
AWAY_SECONDS = 2
"""After so long a server that is away is worth another try."""

_BY_KIND: Sequence[tuple[type[Exception], int, str]] = (
    (NotThere, 404, "not-found"),
    (UnknownName, 404, "not-found"),
    (errors.NotFound, 404, "not-found"),
    (RightMissing, 403, "right-missing"),
    (KeyRefused, 401, "key-refused"),
    (errors.TooLarge, 413, "too-large"),
    (errors.ScopeConflict, 409, "scope-conflict"),
    (errors.WasForgotten, 409, "was-forgotten"),
    (errors.Refused, 422, "refused"),
    (errors.SpoolFull, 503, "spool-full"),
    (NotPermitted, 503, "login-refused"),
    (errors.StoreUnavailable, 503, "postgres-away"),
    (WrongSchema, 503, "schema-behind"),
    (errors.InvalidSettings, 503, "settings-wrong"),
    (RedisError, 503, "broker-away"),
)
"""The first kind that fits an error."""
_TITLES: Mapping[str, str] = {
    "not-found": "Not found",
    "right-missing": "The key lacks a right",
    "key-missing": "A key is needed",
    "key-refused": "The key is not valid",
    "too-large": "Too large",
    "scope-conflict": "The session writes to another scope",
    "was-forgotten": "It was forgotten",
    "refused": "Postgres refuses the data",
    "spool-full": "The spool can't be written",
    "login-refused": "The gateway's login may not do that",
    "postgres-away": "Postgres can't be reached",
    "schema-behind": "The database is at another revision",
    "settings-wrong": "The gateway's settings are wrong",
    "broker-away": "The broker can't be reached",
    "invalid-request": "The request is not valid",
    "not-json": "The body is not JSON",
    "conflict": "It can't be done in the present state",
    "internal": "The gateway failed",
}
_AWAY = {
    "postgres-away": "Postgres can't be reached now; ask again later",
    "broker-away": "the broker can't be reached now; ask again later",
    "login-refused": "the gateway's login of Postgres may not do that; its operator has to correct this",
}
"""Where servers are and who logs in there is for the log of the operator, not for whoever holds a key."""
_SECONDS = {"Retry-After": str(AWAY_SECONDS)}


class Problem(Exception):
    """An answer for a failed request. name: the last part of its type; errors: a list of {where, what}."""

    def __init__(
        self,
        status: int,
        name: str,
        detail: str,
        *,
        title: str | None = None,
        cure: str | None = None,
        errors: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.name = name
        self.detail = detail
        self.title = title or _TITLES.get(name) or name.replace("-", " ").capitalize()
        self.cure = cure
        self.errors = errors
        self.headers = dict(headers or {})

    def to_json(self, request_id: str) -> dict[str, Any]:
        """Return the body."""
        body: dict[str, Any] = {
            "type": f"/problems/{self.name}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        if self.cure:
            body["cure"] = self.cure
        if self.errors:
            body["errors"] = [dict(one) for one in self.errors]
        return body | {"request_id": request_id}

    def response(self, request_id: str) -> Response:
        """Return the response."""
        body = json.dumps(self.to_json(request_id), ensure_ascii=False).encode("utf-8", "replace")
        return Response(body, self.status, self.headers, MEDIA_TYPE)


def problem_of(error: Exception, shell: Shell | None, where: str) -> Problem:
    """Convert any error, expected or not, to a Problem. where: the route, for the log."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, HTTPException):
        return _of_status(error)
    return _of_kind(error, shell) or _of_postgres(error, shell) or _unforeseen(error, where)


def _of_kind(error: Exception, shell: Shell | None) -> Problem | None:
    if isinstance(error, UnknownName) and error.nearest:
        # The original message names other objects, which the key may not reach.
        return Problem(404, "not-found", "there is nothing of this name that this key reaches")
    for kind, status, name in _BY_KIND:
        if isinstance(error, kind):
            return _known(error, status, name, shell)
    if not isinstance(error, errors.SlowwaveError):
        return None
    if isinstance(error, ValueError):
        return Problem(422, "invalid-request", str(error))
    return Problem(409, "conflict", str(error))


def _of_postgres(error: Exception, shell: Shell | None) -> Problem | None:
    expected = explain_failure(error, shell) if isinstance(error, (DBAPIError, DriverError)) else None
    if expected is None:
        return None
    code, sentence, cure = expected
    if code == UNAVAILABLE:
        log.warning("answered postgres-away: %s", sentence)
        return Problem(503, "postgres-away", _AWAY["postgres-away"], headers=_SECONDS)
    return Problem(422, "invalid-request", sentence, cure=cure)


def _known(error: Exception, status: int, name: str, shell: Shell | None) -> Problem:
    expected = explain_failure(error, shell)
    _, sentence, cure = expected or (0, str(error), None)
    if status == 503:  # noqa: PLR2004
        log.warning("answered %s: %s", name, sentence)
        sentence, cure = _AWAY.get(name, sentence), None if name in _AWAY else cure
    headers = dict(_SECONDS) if status == 503 else {}  # noqa: PLR2004
    if status == 401:  # noqa: PLR2004
        headers["WWW-Authenticate"] = 'Bearer realm="slowwave", error="invalid_token"'
    return Problem(status, name, sentence, cure=cure, headers=headers)


def _of_status(error: HTTPException) -> Problem:
    if error.status_code == 404:  # noqa: PLR2004
        return Problem(404, "not-found", "there is no such path", cure="/openapi.json lists all paths")
    if error.status_code == 405:  # noqa: PLR2004
        allowed = (error.headers or {}).get("Allow", "")
        return Problem(405, "method-not-allowed", f"this path answers {allowed}", headers=error.headers)
    return Problem(error.status_code, "invalid-request", str(error.detail), headers=error.headers)


def _invalid(error: RequestValidationError) -> Problem:
    found = [{"where": _place(one["loc"]), "what": _what(one)} for one in error.errors()[:20]]
    first = found[0]
    return Problem(422, "invalid-request", f"{first['where']} {first['what']}", errors=found)


def _place(location: Sequence[int | str]) -> str:
    """Return the place of an invalid field: `messages[0].role` without `body`, but with `query` and `path`."""
    parts = list(location)
    if parts[0] == "body":
        parts = parts[1:] or ["the body"]
    place = ""
    for part in parts:
        place += f"[{part}]" if isinstance(part, int) else f".{part[:100]}" if place else part[:100]
    return place


def _what(one: Mapping[str, Any]) -> str:
    if one["type"] == "missing":
        return "is missing"
    if one["type"] == "extra_forbidden":
        return "is unknown"
    cause = one.get("ctx", {}).get("error")
    if isinstance(cause, Exception):
        return str(cause)
    said = str(one["msg"]).replace("Input should be", "must be").replace("should", "must")
    given = one.get("input")
    got = f", got {errors.shown(given)}" if isinstance(given, (str, int, float, bool)) else ""
    return f"{said[:1].lower()}{said[1:]}{got}"


def _unforeseen(error: Exception, where: str) -> Problem:
    # The error's text may quote a conversation, so the log gets its class and its place in the code.
    places = "".join(traceback.format_tb(error.__traceback__))
    log.error("a request failed: %s at %s\n%s", type(error).__name__, where, places)
    detail = f"this request failed ({type(error).__name__}); the gateway's log says where, by its request id"
    return Problem(500, "internal", detail)
