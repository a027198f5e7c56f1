"""The OpenAPI document: FastAPI's document of the routes, with the parts that all routes share."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts

from slowwave.version import VERSION as SLOWWAVE
from slowwave_server.workers.gateway.routing import CHANGES, GatewayRoute
from slowwave_server.workers.gateway.schemas.problem import Mistake, Problem
from slowwave_server.workers.gateway.schemas.webhooks import WebhookMessage

TITLE = "Slowwave"
VERSION = "3.1.0"
_PROBLEM: dict[str, Any] = {
    "description": "The error and its fix.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
_KEY = {
    "type": "http",
    "scheme": "bearer",
    "description": "An API key, `sw_…`: `slowwave admin keys add` creates one and prints it once.",
}
_REPEATED = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[ -~]+$"},
    "description": "An idempotency key: a repeated request with the same key changes nothing.",
}
_DESCRIPTION = (
    "Long-term memory of AI agents: record conversations, read memories. Every answer carries `X-Request-Id`;"
    " every error is `application/problem+json`."
)


def document_of(routers: Iterable[APIRouter]) -> str:
    """Return the document of a gateway with these routes, as text."""
    app = FastAPI(title=TITLE, version=SLOWWAVE)
    app.webhooks.post("memory-changes", status_code=204, operation_id="receive_changes", summary="Receive changes")(
        _receive_changes
    )
    for router in routers:
        app.include_router(router)
    return json.dumps(describe(app), ensure_ascii=False, indent=2) + "\n"


def _receive_changes(_body: WebhookMessage) -> None:
    """Describe the request that a webhook receives; any status from 200 to 299 accepts all its changes."""


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the document of an application."""
    document = get_openapi(
        title=app.title,
        version=app.version,
        openapi_version=VERSION,
        description=_DESCRIPTION,
        routes=app.routes,
        webhooks=app.webhooks.routes,
    )
    for route, operation in _operations(app, document):
        operation["operationId"] = route.name
        operation["responses"] = _answers(operation["responses"])
        if route.needs is None:
            continue
        operation["security"] = [{"key": []}]
        operation["x-slowwave-rights"] = list(route.needs.rights)
        if CHANGES & (route.methods or set()) and route.needs.rights != ("read",):
            operation.setdefault("parameters", []).append(_REPEATED)
    for told in document.get("webhooks", {}).values():
        told["post"]["responses"].pop("422")
    components = document.setdefault("components", {})
    schemas: dict[str, Any] = components.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    form = "#/components/schemas/{model}"
    schemas["Mistake"] = Mistake.model_json_schema(ref_template=form)
    schemas["Problem"] = Problem.model_json_schema(ref_template=form) | {}
    schemas["Problem"].pop("$defs", None)
    components["schemas"] = dict(sorted(schemas.items()))
    components["securitySchemes"] = {"key": _KEY}
    return document


def _operations(app: FastAPI, document: dict[str, Any]) -> Iterator[tuple[GatewayRoute, dict[str, Any]]]:
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        if isinstance(route, GatewayRoute) and isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                yield route, document["paths"][context.path_format][method.lower()]


def _answers(answers: dict[str, Any]) -> dict[str, Any]:
    kept = {status: answer for status, answer in answers.items() if status != "422"}
    return kept | {"default": _PROBLEM}
