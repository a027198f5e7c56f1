"""For probes, and for programs that want to know which routes there are. Open to all."""

from typing import Literal

from fastapi import APIRouter, Request, Response

from slowwave_server.workers.gateway.replies import reply
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.schemas.shapes import Answer

router = APIRouter(tags=["health"], route_class=GatewayRoute)


class Health(Answer):
    """How a gateway is."""

    status: Literal["ok", "starting"]


@router.get("/healthz", response_model=Health)
async def alive() -> Response:
    """Say that the process lives. Restarting it would not mend the servers behind it, so they are not asked."""
    return reply({"status": "ok"})


@router.get("/readyz", response_model=Health, responses={503: {"model": Health}})
def ready(request: Request) -> Response:
    """Say whether requests can be answered. A gateway that has reached Postgres once goes on recording without it."""
    return reply({"status": "ok"}) if request.app.state.gate.ready() else reply({"status": "starting"}, 503)


@router.get("/openapi.json", include_in_schema=False)
async def document(request: Request) -> Response:
    """Answer the OpenAPI document."""
    return Response(request.app.state.document, media_type="application/json")
