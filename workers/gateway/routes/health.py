"""Health probes, and the OpenAPI document. These routes need no key."""

from typing import Literal

from fastapi import APIRouter, Request, Response

from slowwave_server.workers.gateway.replies import reply
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.schemas.shapes import Answer

router = APIRouter(tags=["health"], route_class=GatewayRoute)


class Health(Answer):
    """The health of a gateway."""

    status: Literal["ok", "starting"]


@router.get("/healthz", response_model=Health)
async def alive() -> Response:
    """Report that the process is alive. A restart would not repair the servers, so they are not checked."""
    return reply({"status": "ok"})


@router.get("/readyz", response_model=Health, responses={503: {"model": Health}})
def ready(request: Request) -> Response:
    """Report whether the gateway can serve: after its first connection to Postgres, also during an outage."""
    return reply({"status": "ok"}) if request.app.state.gate.ready() else reply({"status": "starting"}, 503)


@router.get("/openapi.json", include_in_schema=False)
def document(request: Request) -> Response:
    """Return the OpenAPI document."""
    return Response(request.app.state.document(), media_type="application/json")
