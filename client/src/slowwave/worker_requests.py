"""Send a request to a worker: a row of slowwave.requests holds it, a message wakes a worker, the row gets the outcome.

A client needs a worker because edits and deletions of memories need the server's code.
"""

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal
from uuid import uuid4

from psycopg import Connection
from psycopg.errors import InsufficientPrivilege
from psycopg.types.json import Jsonb
from redis import Redis
from redis.exceptions import RedisError

from slowwave.coordination.request_queue import wake_request
from slowwave.errors import (
    CannotChange,
    InvalidMessage,
    NotAllowed,
    NotAnswered,
    NotFound,
    SlowwaveError,
    StoreUnavailable,
)
from slowwave.postgres import Postgres

Kind = Literal["correct", "archive", "forget_preview", "forget"]

ANSWER_SECONDS = 30.0
FIRST_LOOK_SECONDS = 0.02
LAST_LOOK_SECONDS = 0.5

# The caller makes the id, so that a retry after a broken connection inserts no second request.
_ASK = "INSERT INTO slowwave.requests (id, tenant, kind, arguments) VALUES (%s, %s, %s, %s) ON CONFLICT (id) DO NOTHING"
_LOOK = "SELECT state, result, error FROM slowwave.requests WHERE tenant = %s AND id = %s"
_FAILURES: Mapping[str, type[SlowwaveError]] = {
    "not-found": NotFound,
    "not-allowed": NotAllowed,
    "conflict": CannotChange,
    "invalid": InvalidMessage,
    "unavailable": StoreUnavailable,
}


def ask_worker(
    postgres: Postgres,
    redis: Callable[[], Redis],
    tenant: str,
    kind: Kind,
    arguments: Mapping[str, Any],
) -> dict[str, Any]:
    """Send a request, and wait for the answer.

    Raises NotAllowed for a producer's login, NotAnswered if no worker answers within ANSWER_SECONDS, StoreUnavailable,
    and NotFound, CannotChange or InvalidMessage with the worker's message.
    """
    request = str(uuid4())
    postgres.read(lambda connection: _write(connection, request, tenant, kind, arguments))
    # If the broker is unavailable, the sweep finds the row.
    with contextlib.suppress(RedisError):
        wake_request(redis(), request)
    end, pause = time.monotonic() + ANSWER_SECONDS, FIRST_LOOK_SECONDS
    while True:
        state, result, error = postgres.read(lambda connection: _look(connection, tenant, request))
        if state == "done":
            return dict(result)
        if state == "failed":
            raise failure_of(result, error)
        if time.monotonic() >= end:
            raise NotAnswered(
                f"no worker answered request {request} within {ANSWER_SECONDS:g} s; a worker will answer it later,"
                " so don't send it again",
                request,
            )
        time.sleep(min(pause, max(0.0, end - time.monotonic())))
        pause = min(pause * 1.5, LAST_LOOK_SECONDS)


def failure_of(result: Mapping[str, Any] | None, error: str | None) -> SlowwaveError:
    """Return the exception for a failed request, with the worker's message."""
    return _FAILURES.get((result or {}).get("problem", ""), SlowwaveError)(error)


def _write(connection: Connection[Any], request: str, tenant: str, kind: Kind, arguments: Mapping[str, Any]) -> None:
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        connection.execute(_ASK, (request, tenant, kind, Jsonb(given)))
    except InsufficientPrivilege:
        raise NotAllowed(
            "this login may record and read, but not change or forget memories: use the login of a console or a worker"
            f" of tenant {tenant!r}, or an API key with the right `decide` or `forget`"
        ) from None


def _look(connection: Connection[Any], tenant: str, request: str) -> tuple[Any, ...]:
    row = connection.execute(_LOOK, (tenant, request)).fetchone()
    return ("failed", None, f"request {request} is gone") if row is None else row
