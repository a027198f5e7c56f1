"""How a request passes: key, rights and limits first, then its body, then the route; and what an error answers.

Nothing of a body is read before the key is known to be good for the route.

Must not know: any single route.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from anyio import to_thread
from fastapi import Request, Response
from fastapi.routing import APIRoute

from slowwave_server.services import work_ids
from slowwave_server.workers.gateway.addresses import NO_TEXT
from slowwave_server.workers.gateway.bodies import take_body
from slowwave_server.workers.gateway.gate import Gate
from slowwave_server.workers.gateway.idempotency import given_key
from slowwave_server.workers.gateway.keys import digest_of
from slowwave_server.workers.gateway.problems import Problem, problem_of
from slowwave_server.workers.gateway.request_ids import request_id_of
from slowwave_server.workers.gateway.visit import Needs, Visit
from slowwave_server.workers.gateway.walls import act_for

BODIES = frozenset({"POST", "PATCH", "PUT"})
CHANGES = frozenset({"POST", "PATCH", "PUT", "DELETE"})
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class GatewayRoute(APIRoute):
    """A route that says which right it needs, by a parameter like `visit: Annotated[Visit, reads]`."""

    @property
    def needs(self) -> Needs | None:
        """What it needs; None for a route that is open to all."""
        for dependency in self.dependant.dependencies:
            if isinstance(dependency.call, Needs):
                return dependency.call
        return None

    def get_route_handler(self) -> Handler:
        answer, needs = super().get_route_handler(), self.needs
        path = self.path

        async def handle(request: Request) -> Response:
            try:
                if needs is None:
                    return await answer(request)
                return await _answer(request, needs, answer)
            except Exception as error:  # noqa: BLE001 (one that nobody foresaw is logged, and told without details)
                return await to_thread.run_sync(problem_response, request, error, path)

        return handle


async def _answer(request: Request, needs: Needs, answer: Handler) -> Response:
    gate: Gate = request.app.state.gate
    visit, told = await to_thread.run_sync(admit, gate, request, needs)
    act_for(visit.caller.digest)
    work_ids.bind(tenant=visit.tenant, key=visit.caller.prefix)
    request.state.visit = visit
    rules = gate.settings.gateway
    if request.method in CHANGES:
        given_key(request)  # a header that is wrong is refused, also by a route that needs none
    if request.method in BODIES:
        request = await take_body(request, rules.max_body_bytes, rules.body_seconds)
    if request.method in CHANGES and needs.keeps != "nothing":
        response = await gate.answers.once(visit.caller, request, needs.keeps, answer)
    else:
        response = await answer(request)
    response.headers.update(told)
    return response


def admit(gate: Gate, request: Request, needs: Needs) -> tuple[Visit, dict[str, str]]:
    """Find out who asks, and whether they may. Raises Problem, KeyRefused, RightMissing."""
    _check_text(request)
    caller = gate.keys.caller(digest_of(request.headers.get("authorization")))
    told = gate.limits.take(caller)
    request.state.limits = told
    caller.require(*needs.rights)
    return Visit(gate, request, caller, request_id_of(request.scope)), told


def _check_text(request: Request) -> None:
    """Raise Problem for what no text of Postgres holds."""
    if request.scope["state"].get(NO_TEXT) or any("\0" in value for value in request.query_params.values()):
        raise Problem(422, "invalid-request", "an address must be UTF-8, and can't hold NUL")
    named = request.path_params
    named.update({name: value.replace("\0", "/") for name, value in named.items() if isinstance(value, str)})


def problem_response(request: Request, error: Exception, path: str) -> Response:
    """The answer for an error of a request."""
    gate: Gate = request.app.state.gate
    visit: Visit | None = getattr(request.state, "visit", None)
    if visit is not None:
        error = gate.keys.recheck(visit.caller, error)
    shell = gate.shell(gate.settings.tenant if visit is None else visit.tenant)
    problem = problem_of(error, shell, f"{request.method} {path}")
    response = problem.response(request_id_of(request.scope))
    for name, value in getattr(request.state, "limits", {}).items():
        response.headers.setdefault(name, value)
    if request.method in BODIES and problem.status in {401, 403, 429}:
        response.headers["Connection"] = "close"  # its body was not read
    return response
