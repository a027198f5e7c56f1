"""Call the function of a simple route without FastAPI's solver of dependencies, which costs more than the function.

The parameters of a simple route are names in its path and at most one JSON body, and it returns a response. FastAPI's
own fields check the values. If a value is invalid, FastAPI answers the request, because it describes the mistakes.
"""

import asyncio
import contextvars
import inspect
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute

from slowwave_server.workers.gateway.bodies import Given

THREADS = 40
"""As many as FastAPI has. These cost less: the limiter of FastAPI's threads is asked for each call."""

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
T = TypeVar("T")

_threads = ThreadPoolExecutor(THREADS, "slowwave-gateway")


async def in_thread(call: Callable[[], T]) -> T:
    """Return the result of a call that a thread makes in the context of this task."""
    run = contextvars.copy_context().run
    return await asyncio.get_running_loop().run_in_executor(_threads, run, call)


def is_simple(route: APIRoute) -> bool:
    """Return True if `directly` can call the function of a route."""
    needs, function = route.dependant, inspect.unwrap(route.endpoint)
    special = (
        *(needs.query_params, needs.header_params, needs.cookie_params, needs.dependencies),
        *(needs.request_param_name, needs.websocket_param_name, needs.http_connection_param_name),
        *(needs.response_param_name, needs.background_tasks_param_name, needs.security_scopes_param_name),
    )
    body = [] if route.body_field is None else [route.body_field]  # another field than the parameter: an embedded body
    is_plain = not inspect.isgeneratorfunction(function) and not inspect.iscoroutinefunction(function)
    returns = inspect.signature(function).return_annotation
    return is_plain and needs.body_params == body and not any(special) and returns is Response


def directly(route: APIRoute, by_fastapi: Handler) -> Handler:
    """Return a handler that calls the function of a simple route. by_fastapi: FastAPI's handler of the route."""
    call = route.endpoint

    async def handle(request: Request) -> Response:
        values = _values(route, request)
        if values is None:
            return await _within_stacks(request, by_fastapi)
        response: Response = await in_thread(partial(call, **values))
        return response

    return handle


def _values(route: APIRoute, request: Request) -> dict[str, Any] | None:
    """Return the arguments of a route's function; None if one is invalid, or if the body is missing."""
    values: dict[str, Any] = {}
    for field in route.dependant.path_params:
        value, errors = field.validate(request.path_params.get(field.alias), values, loc=("path", field.alias))
        if errors:
            return None
        values[field.name] = value
    for field in route.dependant.body_params:
        if not isinstance(request, Given) or request.parsed is None:
            return None
        value, errors = field.validate(request.parsed, values, loc=("body",))
        if errors:
            return None
        values[field.name] = value
    return values


async def _within_stacks(request: Request, by_fastapi: Handler) -> Response:
    """Call FastAPI's handler with the context that FastAPI's own wrapper of a route gives it."""
    async with AsyncExitStack() as stack:
        for name in ("fastapi_inner_astack", "fastapi_function_astack"):
            request.scope[name] = stack
        return await by_fastapi(request)
