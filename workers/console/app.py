"""The console as a Starlette application: its pages, its style sheet, and the headers of every response."""

from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus

from redis import Redis
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.datastructures import FormData, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from slowwave import Memory
from slowwave.settings import Settings
from slowwave_server.services.reports.doctor import HealthProbe
from slowwave_server.workers.console.app_state import AppState
from slowwave_server.workers.console.failures import answer_failure
from slowwave_server.workers.console.health_cache import HealthCache
from slowwave_server.workers.console.pages import NAVIGATION, PAGES
from slowwave_server.workers.console.request import PageError, PageRequest
from slowwave_server.workers.console.routing import Endpoint
from slowwave_server.workers.console.templating import FOLDER
from slowwave_server.workers.shared.listening import listening

BODY_SECONDS = 10.0
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self';"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Hardened:
    """Adds the security headers to every response, including error pages and static files."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, with_headers)


def make_app(
    settings: Settings,
    engine: Engine,
    redis: Redis,
    clock: Callable[[], datetime],
    memory: Memory,
    *,
    secure: bool = False,
    body_seconds: float = BODY_SECONDS,
) -> Starlette:
    """Return the console's application over these servers.

    memory: reads memories exactly as agents read them. clock: returns an aware time. secure: True to send cookies over
    https only. body_seconds: the longest time in which the body of a form may arrive.
    """
    patient = HealthProbe(settings, engine, redis, lambda: listening(redis, settings), clock)
    state = AppState(settings, engine, redis, clock, secure, NAVIGATION, HealthCache(patient), memory, body_seconds)
    routes: list[BaseRoute] = [Mount("/static", StaticFiles(directory=FOLDER / "static"), name="static")]
    routes.append(Route("/healthz", _alive))
    routes += [
        Route(page.path, Endpoint(state, page).answer, methods=[page.method], name=f"{page.method} {page.path}")
        for page in PAGES
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Hardened)],
        exception_handlers={HTTPException: _Unrouted(state)},
    )


async def _alive(_request: Request) -> Response:
    """Answer liveness probes without Postgres and the broker, which a restart would not repair."""
    return PlainTextResponse("ok\n")


class _Unrouted:
    """Answers a request that matches no route."""

    def __init__(self, state: AppState) -> None:
        self._state = state

    def __call__(self, request: Request, error: Exception) -> Response:
        status = HTTPStatus(error.status_code if isinstance(error, HTTPException) else 500)
        said = "There is no such page" if status is HTTPStatus.NOT_FOUND else status.phrase
        req = PageRequest(self._state, request, None, FormData(), request.url.path)
        return answer_failure(req, PageError(status, said, "the console begins at /"))
