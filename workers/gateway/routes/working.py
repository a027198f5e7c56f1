"""Working memory over HTTP: the outcomes of an agent's notes, and a request for a cycle over them."""

from typing import Annotated

from fastapi import APIRouter

from slowwave.working import WorkingStats
from slowwave_server.workers.gateway.curating import AgentName, SharedScope
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.schemas import working as shapes
from slowwave_server.workers.gateway.visit import Visit, reads, records

router = APIRouter(route_class=GatewayRoute, tags=["agents"])


@router.post("/v1/agents/{agent}/consolidate")
def consolidate(
    agent: AgentName, visit: Annotated[Visit, records], body: shapes.Consolidation | None = None
) -> shapes.ConsolidationAsked:
    """Request a consolidation cycle over the notes of an agent, a room or a team now, before the scheduled one."""
    visit.agent(agent)
    scope = None if body is None or body.scope is None else visit.caller.scope(body.scope)
    return shapes.ConsolidationAsked(asked=visit.memory.consolidate_now(agent, scope))


@router.get("/v1/agents/{agent}/stats")
def stats(agent: AgentName, visit: Annotated[Visit, reads], scope: SharedScope = None) -> WorkingStats:
    """Count an agent's notes by outcome, and the work of the consolidation cycles."""
    visit.agent(agent)
    place = None if scope is None else visit.caller.scope(scope)
    return visit.memory.stats(agent, place)
