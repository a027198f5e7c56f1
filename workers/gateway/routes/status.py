"""The status of the key's tenant, over HTTP."""

from typing import Annotated

from fastapi import APIRouter

from slowwave_server.services.reports.status import Status, read_status
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.visit import Visit, administers

router = APIRouter(route_class=GatewayRoute, tags=["administration"])


@router.get("/v1/status")
def status(visit: Annotated[Visit, administers]) -> Status:
    """Report the backlog, the time from turn to memory, and the failures of the last hour."""
    with visit.reading() as connection:
        return read_status(connection, visit.shell.queue, visit.tenant, visit.now)
