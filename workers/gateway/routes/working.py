"""Working memory over HTTP: what became of an agent's notes, and asking for a cycle over them."""

from typing import Annotated

from fastapi import APIRouter

from slowwave_server.workers.gateway.curating import AgentName, SharedScope
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.schemas import working as shapes
from slowwave_server.workers.gateway.visit import Visit, reads, records

router = APIRouter(route_class=GatewayRoute, tags=["agents"])


@router.post("/v1/agents/{agent}/consolidate")
def consolidate(
    agent: AgentName, visit: Annotated[Visit, records], body: shapes.Consolidation | None = None
) -> shapes.ConsolidationAsked:
    """Ask the workers for a cycle over an agent's notes, or those of a room or a team. They make one anyway, later."""
    visit.agent(agent)
    scope = None if body is None or body.scope is None else visit.caller.scope(body.scope)
    return shapes.ConsolidationAsked(asked=visit.memory.consolidate_now(agent, scope))


@router.get("/v1/agents/{agent}/stats")
def stats(agent: AgentName, visit: Annotated[Visit, reads], scope: SharedScope = None) -> shapes.WorkingStats:
    """Say what became of all that an agent noted, and what the cycles over its notes did."""
    visit.agent(agent)
    place = None if scope is None else visit.caller.scope(scope)
    return shapes.WorkingStats.model_validate(visit.memory.stats(agent, place))
