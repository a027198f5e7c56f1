"""Ask a worker by a row of slowwave.requests, and wait a moment for its answer."""

import logging
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi.responses import JSONResponse
from redis.exceptions import RedisError

from slowwave.coordination.request_queue import wake_request
from slowwave_server.services.requests.store import Kind, Request, add_request, read_request
from slowwave_server.workers.gateway.caller import NotThere
from slowwave_server.workers.gateway.problems import AWAY_SECONDS, Problem
from slowwave_server.workers.gateway.schemas.curation import Request as RequestAnswer
from slowwave_server.workers.gateway.schemas.shapes import Answer
from slowwave_server.workers.gateway.visit import Visit

log = logging.getLogger(__name__)

WAIT_SECONDS = 5.0
FIRST_PAUSE_SECONDS = 0.01
LAST_PAUSE_SECONDS = 0.2

_PROBLEMS: Mapping[str, tuple[int, str]] = {
    "not-allowed": (403, "key-refused"),
    "conflict": (409, "conflict"),
    "invalid": (422, "invalid-request"),
    "unavailable": (503, "broker-away"),
}


def ask(visit: Visit, kind: Kind, arguments: Mapping[str, Any]) -> Request:
    """Store a request and wake a worker. Return the request in its state after at most WAIT_SECONDS."""
    with visit.engine.begin() as connection:
        request = add_request(connection, visit.tenant, kind, arguments, key=visit.key_id)
    try:
        wake_request(visit.redis, request)
    except RedisError:
        log.warning("no worker was woken for request %s; the sweep offers it", request)
    until, pause = time.monotonic() + WAIT_SECONDS, FIRST_PAUSE_SECONDS
    while True:
        with visit.reading() as connection:
            asked = read_request(connection, visit.tenant, request)
        if asked.state in {"done", "failed"} or time.monotonic() > until:
            return asked
        time.sleep(pause)
        pause = min(2 * pause, LAST_PAUSE_SECONDS)


def answered(asked: Request, shape: type[Answer], *, missing: NotThere) -> Answer | JSONResponse:
    """Return the result of a request; if no worker has answered yet, 202 with the request and its address.

    missing: the error to raise if the target does not exist, because a worker's sentence could name other agents.
    Raises Problem for other failures.
    """
    if asked.state == "done":
        return shape.model_validate(dict(asked.result or {}) | {"id": asked.id})
    if asked.state != "failed":
        told = RequestAnswer.model_validate(asked).model_dump(mode="json")
        headers = {"Location": f"/v1/requests/{asked.id}", "Retry-After": "1"}
        return JSONResponse(told, HTTPStatus.ACCEPTED, headers)
    failure = (asked.result or {}).get("problem")
    if failure == "not-found":
        raise missing
    status, name = _PROBLEMS.get(str(failure), (500, "internal"))
    again = {"Retry-After": str(AWAY_SECONDS)} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
    raise Problem(status, name, asked.error or "", headers=again)
