"""The gateway as an application: its routes, and the middleware around every route."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from functools import cache, partial
from importlib.util import find_spec

from fastapi import FastAPI
from redis import Redis
from sqlalchemy import Engine
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from slowwave import Memory
from slowwave.settings import Settings
from slowwave_server.workers.gateway.addresses import WithSlashes
from slowwave_server.workers.gateway.change_streams import Streams
from slowwave_server.workers.gateway.gate import Gate
from slowwave_server.workers.gateway.idempotency import Answers
from slowwave_server.workers.gateway.keys import Keys
from slowwave_server.workers.gateway.limits import Limits
from slowwave_server.workers.gateway.openapi import TITLE, document_of
from slowwave_server.workers.gateway.problems import problem_of
from slowwave_server.workers.gateway.readiness import Readiness
from slowwave_server.workers.gateway.request_ids import HEADER, Identified, request_id_of
from slowwave_server.workers.gateway.routes import ROUTERS
from slowwave_server.workers.gateway.walls import guard

GZIP_BYTES = 1000
METHODS = ["GET", "POST", "PATCH", "DELETE"]
READ_BY_BROWSERS = [HEADER, "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "Location"]
SENT_BY_BROWSERS = ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "Slowwave-Taken", HEADER]


def make_gateway(
    settings: Settings,
    engine: Engine,
    redis: Redis,
    clock: Callable[[], datetime],
    memory: Memory,
) -> FastAPI:
    """Return the gateway over these servers, with the rights of its own login. clock: returns an aware time.

    memory: its store acts for callers through `walls.Walls`; from now on the connections of `engine` do, too.
    """
    guard(engine)
    app = FastAPI(
        title=TITLE,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lives,
        # `Identified` opens the span of a request; one of FastAPI would name the path.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    limits, answers = Limits(redis, settings.gateway), Answers(redis)
    gate = Gate(settings, engine, redis, clock, memory, Keys(engine), limits, answers, Readiness(engine))
    app.state.gate, app.state.streams = gate, Streams(gate)
    app.state.running, app.state.closing = [app.state.streams.lives], []
    for router in ROUTERS:
        app.router.routes.extend(router.routes)
    _add_mcp(app)
    app.state.document = cache(partial(document_of, ROUTERS))  # FastAPI takes half a second
    app.add_exception_handler(HTTPException, _unrouted)
    _surround(app, settings)
    return app


def _surround(app: FastAPI, settings: Settings) -> None:
    """Add the middleware around all routes. The last one added is the first that handles a request."""
    app.add_middleware(WithSlashes)
    app.add_middleware(GZipMiddleware, minimum_size=GZIP_BYTES, compresslevel=5)
    origins = [origin.strip() for origin in settings.gateway.cors_origins.split(",") if origin.strip()]
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=METHODS,
            allow_headers=SENT_BY_BROWSERS,
            expose_headers=READ_BY_BROWSERS,
        )
    app.add_middleware(Identified, told=settings.gateway.access_log)


def _add_mcp(app: FastAPI) -> None:
    """Add MCP, if its SDK is installed."""
    if find_spec("mcp") is None:
        return
    from slowwave_server.workers.gateway.mcp import PATH, McpEndpoint  # noqa: PLC0415 (the SDK is an extra)

    endpoint = McpEndpoint()
    app.router.routes.append(Route(PATH, endpoint, include_in_schema=False))
    app.state.running.append(endpoint.run)


@asynccontextmanager
async def _lives(app: FastAPI) -> AsyncIterator[None]:
    """Run the contexts in `app.state.running` while the app serves; at the end call `app.state.closing`."""
    async with AsyncExitStack() as stack:
        for close in app.state.closing:
            stack.callback(close)
        for running in app.state.running:
            await stack.enter_async_context(running())
        yield


async def _unrouted(request: Request, error: Exception) -> Response:
    return problem_of(error, None, request.method).response(request_id_of(request.scope))
