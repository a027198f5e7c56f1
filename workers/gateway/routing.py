"""Process a request: first key and rights, then rate limit, body and route; and convert errors to answers.

No body is read before the key's right for the route is known.
"""

import inspect
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, get_args

from anyio import to_thread
from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from slowwave_server.services import log_context
from slowwave_server.workers.gateway.addresses import NO_TEXT
from slowwave_server.workers.gateway.bodies import take_body
from slowwave_server.workers.gateway.direct_calls import directly, is_simple
from slowwave_server.workers.gateway.gate import Gate
from slowwave_server.workers.gateway.idempotency import given_key
from slowwave_server.workers.gateway.keys import digest_of
from slowwave_server.workers.gateway.problems import Problem, problem_of
from slowwave_server.workers.gateway.request_ids import request_id_of
from slowwave_server.workers.gateway.visit import Needs, Visit
from slowwave_server.workers.gateway.walls import act_for

BODIES = frozenset({"POST", "PATCH", "PUT"})
CHANGES = frozenset({"POST", "PATCH", "PUT", "DELETE"})
TOO_MANY = 429
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


_entering: ContextVar[Visit] = ContextVar("slowwave_entering")


class GatewayRoute(APIRoute):
    """A route that declares its right by a parameter such as `visit: Annotated[Visit, reads]`.

    The route passes the visit itself, because FastAPI would resolve a dependency again for each request. needs: the
    required right; None for a route that is open to all.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.needs, wrapped = _with_visit(endpoint)
        super().__init__(path, wrapped, **options)
        if is_simple(self):
            self.app = _as_app(self.get_route_handler())

    def get_route_handler(self) -> Handler:
        answer, needs = super().get_route_handler(), self.needs
        if is_simple(self):
            answer = directly(self, answer)
        path, counts_late = self.path, not iscoroutinefunction(self.endpoint)

        async def handle(request: Request) -> Response:
            try:
                if needs is None:
                    return await answer(request)
                late = counts_late and (needs.keeps == "nothing" or request.method not in CHANGES)
                return await _answer(request, needs, answer, counts_late=late)
            except Exception as error:  # noqa: BLE001 (one that nobody foresaw is logged, and told without details)
                return await to_thread.run_sync(problem_response, request, error, path)

        return handle


def _as_app(handle: Handler) -> ASGIApp:
    """Return the application of a handler that raises nothing."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        response = await handle(Request(scope, receive, send))
        await response(scope, receive, send)

    return app


def _with_visit(endpoint: Callable[..., Any]) -> tuple[Needs | None, Callable[..., Any]]:
    """Return the right that a route needs, and its function without the parameter `visit`, which the wrapper passes.

    A plain function runs in a thread, which counts the request, too, because another thread would cost more than the
    count.
    """
    signature = inspect.signature(endpoint)
    parameters = dict(signature.parameters)
    if (visit := parameters.pop("visit", None)) is None:
        return None, endpoint

    @wraps(endpoint)
    def counted(**given: Any) -> Any:
        visit = _entering.get()
        visit.take_token()
        return endpoint(**given, visit=visit)

    @wraps(endpoint)
    async def awaited(**given: Any) -> Any:
        return await endpoint(**given, visit=_entering.get())

    wrapped: Any = awaited if iscoroutinefunction(endpoint) else counted
    wrapped.__signature__ = signature.replace(parameters=list(parameters.values()))
    return next(one for one in get_args(visit.annotation) if isinstance(one, Needs)), wrapped


async def _answer(request: Request, needs: Needs, answer: Handler, *, counts_late: bool) -> Response:
    """Answer a request. counts_late: the route counts it; `problem_response` counts earlier refusals."""
    gate: Gate = request.app.state.gate
    _check_text(request)
    digest = digest_of(request.headers.get("authorization"))
    caller = gate.keys.fresh(digest)
    if caller is None:
        caller = await to_thread.run_sync(gate.keys.caller, digest)
    visit = request.state.visit = Visit(gate, request, caller, request_id_of(request.scope))
    _entering.set(visit)
    act_for(caller.digest)
    log_context.bind(tenant=visit.tenant, key=caller.prefix)
    caller.require(*needs.rights)
    if not counts_late:
        await to_thread.run_sync(visit.take_token)
    rules = gate.settings.gateway
    if request.method in CHANGES:
        given_key(request)  # refuse an invalid header, even for a route that does not need it
    if counts_late:
        visit.send_count()  # Redis counts while the body arrives and is checked
    if request.method in BODIES:
        request = await take_body(request, rules.max_body_bytes, rules.body_seconds)
    if request.method in CHANGES and needs.keeps != "nothing":
        response = await gate.answers.once(caller, request, needs.keeps, answer)
    else:
        response = await answer(request)
    response.headers.update(visit.told or {})
    return response


def admit(gate: Gate, request: Request, needs: Needs) -> Visit:
    """Identify the caller, check its right, and count the request. Raises Problem, KeyRefused, RightMissing."""
    caller = gate.keys.caller(digest_of(request.headers.get("authorization")))
    visit = request.state.visit = Visit(gate, request, caller, request_id_of(request.scope))
    visit.take_token()
    caller.require(*needs.rights)
    return visit


def _check_text(request: Request) -> None:
    """Raise Problem for text that Postgres can't store."""
    scope = request.scope
    asked = scope["query_string"] and any("\0" in value for value in request.query_params.values())
    if asked or scope["state"].get(NO_TEXT):
        raise Problem(422, "invalid-request", "an address must be UTF-8, and can't hold NUL")
    named = request.path_params
    named.update({name: value.replace("\0", "/") for name, value in named.items() if isinstance(value, str)})


def problem_response(request: Request, error: Exception, path: str) -> Response:
    """Return the answer for an error of a request."""
    gate: Gate = request.app.state.gate
    visit: Visit | None = getattr(request.state, "visit", None)
    if visit is not None:
        error = gate.keys.recheck(visit.caller, error)
    shell = gate.shell(gate.settings.tenant if visit is None else visit.tenant)
    problem = problem_of(error, shell, f"{request.method} {path}")
    if visit is not None and visit.told is None and problem.status != TOO_MANY:
        try:
            visit.take_token()
        except Problem as refused:
            problem = refused
    response = problem.response(request_id_of(request.scope))
    for name, value in ((visit and visit.told) or {}).items():
        response.headers.setdefault(name, value)
    if request.method in BODIES and problem.status in {401, 403, TOO_MANY}:
        response.headers["Connection"] = "close"  # its body may be unread
    return response
