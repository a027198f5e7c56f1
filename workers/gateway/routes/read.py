"""Reads of agents' hosts: the context for a prompt, and answers to a question."""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from slowwave.recall_requests import ContextRequest
from slowwave_server.workers.gateway.replies import reply
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.schemas import read as shapes
from slowwave_server.workers.gateway.visit import Visit, reads

router = APIRouter(tags=["read"], route_class=GatewayRoute)

Named = Annotated[str, Path(min_length=1, max_length=200)]
Reading = Annotated[Visit, reads]


@router.post("/v1/agents/{agent}/context", response_model=shapes.Context)
def read_context(agent: Named, visit: Reading, given: shapes.ContextWanted | None = None) -> Response:
    """Read the context for the agent's next prompt."""
    wanted = given or shapes.ContextWanted()
    request = ContextRequest(
        agent=visit.agent(agent),
        session=wanted.session,
        query=wanted.query,
        days=wanted.days,
        scopes=visit.caller.all_scopes(wanted.scopes),
        max_tokens=wanted.max_tokens,
        format=wanted.format,
        noted=wanted.noted,
    )
    known = visit.memory.backend.context(request)
    told = {"text": known.render(wanted.format), "tokens": known.tokens, "left_out": known.left_out}
    return reply(told | known.to_json())


@router.post("/v1/agents/{agent}/search", response_model=shapes.Found)
def search(agent: Named, given: shapes.SearchWanted, visit: Reading) -> Response:
    """Search memories and events, the best hit first."""
    hits = visit.memory.search(
        visit.agent(agent),
        given.query,
        given.limit,
        scopes=visit.caller.all_scopes(given.scopes),
        include_review=given.include_review,
        now=given.now or visit.now,
        order=given.order,
        max_tokens=given.max_tokens,
        min_relevance=given.min_relevance,
        min_share=given.min_share,
        around=given.around,
    )
    return reply({"hits": [hit.to_json() for hit in hits]})
