"""Handle Idempotency-Key: a change that is sent twice happens once, and the repetition gets the first answer.

Answers are stored in Redis for a day, by API key. An answer with a secret is not stored: a repetition of its request
is refused. Recording routes store the header in Postgres instead, where it stays
valid for ever.
"""

import json
import logging
from base64 import b64decode, b64encode
from collections.abc import Callable, Coroutine
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from anyio import to_thread
from fastapi import Request, Response
from redis import Redis
from redis.exceptions import RedisError

from slowwave_server.workers.gateway.caller import Caller
from slowwave_server.workers.gateway.limits import PREFIX
from slowwave_server.workers.gateway.problems import Problem

log = logging.getLogger(__name__)

HEADER = "idempotency-key"
REPLAYED = "Idempotent-Replayed"
MAX_CHARACTERS = 200
KEPT_SECONDS = 86_400
RUNNING_SECONDS = 60
"""A gateway that dies over a change leaves its key taken for so long."""
_KEPT_HEADERS = ("location", "content-type")
_FAILED = 500


def given_key(request: Request) -> str | None:
    """Return the header, or None. Raises Problem."""
    key = request.headers.get(HEADER)
    if key is not None and not (0 < len(key) <= MAX_CHARACTERS and key.isascii() and key.isprintable()):
        detail = f"the header Idempotency-Key must have 1 to {MAX_CHARACTERS} printable ASCII characters"
        raise Problem(422, "invalid-request", detail)
    return key


class Answers:
    """Stored answers to changes, by API key and Idempotency-Key."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def once(
        self,
        caller: Caller,
        request: Request,
        keeps: str,
        answer: Callable[[Request], Coroutine[Any, Any, Response]],
    ) -> Response:
        """Answer a request, or repeat its stored answer. Raises Problem if the same request is running, or if the key
        belongs to another request.

        keeps: "answer", or "fact" for an answer that must not be stored; a repetition is then refused.
        """
        key = given_key(request)
        if key is None:
            return await answer(request)
        name = _name(caller, key)
        mark = sha256(b"%s %s\n%s" % (request.method.encode(), _target(request), await request.body())).hexdigest()
        if (known := await to_thread.run_sync(self._begin, name, mark)) is not None:
            return _repeated(known, mark)
        try:
            response = await answer(request)
        except BaseException:
            await to_thread.run_sync(self._end, name, None)
            raise
        kept = None if response.status_code >= _FAILED else _kept(response, mark, keeps)
        await to_thread.run_sync(self._end, name, kept)
        return response

    def _begin(self, name: str, mark: str) -> dict[str, Any] | None:
        """Reserve the key. If it is taken, return the stored entry. Raises RedisError."""
        running = json.dumps({"mark": mark})
        if self._redis.set(name, running, nx=True, ex=RUNNING_SECONDS):
            return None
        found = self._redis.get(name)
        if found is None:
            return self._begin(name, mark)
        known: dict[str, Any] = json.loads(found)
        return known

    def _end(self, name: str, kept: str | None) -> None:
        try:
            if kept is None:
                self._redis.delete(name)
            else:
                self._redis.set(name, kept, ex=KEPT_SECONDS)
        except RedisError as error:
            log.warning("an answer could not be kept for its repetition: %s", type(error).__name__)


def _name(caller: Caller, key: str) -> str:
    digest = sha256(f"{caller.key_id}\n{key}".encode()).hexdigest()
    return f"{PREFIX}answer:{quote(caller.tenant, safe='')}:{digest}"


def _target(request: Request) -> bytes:
    return f"{request.url.path}?{request.url.query}".encode("utf-8", "replace")


def _kept(response: Response, mark: str, keeps: str) -> str:
    if keeps == "fact":
        return json.dumps({"mark": mark, "done": True})
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    body = b64encode(bytes(response.body)).decode("ascii")
    return json.dumps({"mark": mark, "status": response.status_code, "headers": headers, "body": body})


def _repeated(known: dict[str, Any], mark: str) -> Response:
    if known["mark"] != mark:
        detail = "this Idempotency-Key came with another request before: use a new key for a new request"
        raise Problem(422, "idempotency-mismatch", detail, title="The Idempotency-Key belongs to another request")
    if known.get("done"):
        detail = "this was done before, and its answer held a secret that is shown once"
        raise Problem(409, "already-done", detail)
    if "status" not in known:
        detail = "the first request with this Idempotency-Key is being answered; ask again"
        raise Problem(409, "in-progress", detail, title="The request is in progress", headers={"Retry-After": "1"})
    response = Response(b64decode(known["body"]), known["status"], known["headers"])
    response.headers[REPLAYED] = "true"
    return response
