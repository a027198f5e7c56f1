"""Memories over HTTP: lists, one memory with its history, and edits, each of which is a run that can be undone."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from slowwave.identity import shared_scope
from slowwave.memory_types import MemoryType
from slowwave_server.services.corrections import Correction as Made
from slowwave_server.services.corrections import correct, withdraw
from slowwave_server.services.reports.explain import explain_memory
from slowwave_server.services.reports.memories import list_memories
from slowwave_server.services.reports.records import as_records
from slowwave_server.workers.gateway.curating import (
    MOST_CHANGES,
    AgentName,
    Cursor,
    Limit,
    Moment,
    SharedScope,
    check_agent,
    check_scope,
    memory_of,
    responses,
)
from slowwave_server.workers.gateway.cursors import page_of, read_cursor
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.schemas.memories import (
    Archiving,
    Corrected,
    Correction,
    Explanation,
    Memory,
    MemoryPage,
    MemoryStatus,
)
from slowwave_server.workers.gateway.visit import Visit, decides, reads

router = APIRouter(route_class=GatewayRoute, tags=["memories"])


@router.get("/v1/agents/{agent}/memories", responses=responses(404))
def list_memories_of_agent(
    agent: AgentName,
    visit: Annotated[Visit, reads],
    status: Annotated[MemoryStatus | None, Query(description="Without it, all but archived memories.")] = None,
    type: MemoryType | None = None,  # noqa: A002 (the parameter's name)
    scope: SharedScope = None,
    as_of: Annotated[Moment | None, Query(description="Only memories that were valid at this time.")] = None,
    known_at: Annotated[Moment | None, Query(description="The memories as they were stored at this time.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> MemoryPage:
    """List the memories of an agent, or of a room or a team that it shares, the newest first."""
    before = read_cursor(cursor, lambda moment, memory: (datetime.fromisoformat(moment), UUID(memory)))
    place = ("agent", agent) if scope is None else shared_scope(scope)
    with visit.reading() as connection:
        check_agent(visit, connection, agent)
        check_scope(visit, *place)
        found = list_memories(
            connection,
            visit.tenant,
            agent,
            scope=place,
            status=status,
            kind=type,
            as_of=as_of,
            known_at=known_at,
            before=before,
            limit=limit + 1,
            most_changes=MOST_CHANGES,
        )
        listed, after = page_of(found, limit, lambda one: (one.valid_from.isoformat(), one.id))
        records = as_records(connection, visit.tenant, ":".join(place), listed, then=known_at is not None)
    return MemoryPage(items=[Memory.model_validate(one) for one in records], next_cursor=after)


@router.get("/v1/memories/{memory}", responses=responses(404))
def get_memory(memory: UUID, visit: Annotated[Visit, reads]) -> Memory:
    """Read one memory, including archived ones."""
    with visit.reading() as connection:
        return Memory.model_validate(memory_of(visit, connection, memory))


@router.get("/v1/memories/{memory}/explain", responses=responses(404))
def explain(memory: UUID, visit: Annotated[Visit, reads]) -> Explanation:
    """Read a memory with its sources, all changes, and related memories."""
    with visit.reading() as connection:
        record = memory_of(visit, connection, memory)
        found = explain_memory(connection, visit.tenant, memory)
    told = {name: getattr(found, name) for name in Explanation.model_fields.keys() - {"memory", "relations"}}
    return Explanation.model_validate(told | {"memory": record, "relations": found.triples})


@router.patch("/v1/memories/{memory}", responses=responses(404, 409))
def correct_memory(memory: UUID, body: Correction, visit: Annotated[Visit, decides]) -> Corrected:
    """Edit a memory's text or type. The edited memory replaces the old one and keeps its dates."""
    with visit.reading() as connection:
        memory_of(visit, connection, memory)
    made = correct(
        visit.engine,
        visit.tenant,
        memory,
        body.content,
        type=body.type,
        revision=body.revision,
        reason=body.reason,
        by=visit.by,
        now=visit.now,
    )
    return _corrected(visit, made)


@router.post("/v1/memories/{memory}/archive", responses=responses(404, 409))
def archive_memory(memory: UUID, body: Archiving, visit: Annotated[Visit, decides]) -> Corrected:
    """Archive a memory: no search or context returns it. It stays readable by its id."""
    with visit.reading() as connection:
        memory_of(visit, connection, memory)
    made = withdraw(
        visit.engine,
        visit.tenant,
        memory,
        revision=body.revision,
        reason=body.reason,
        by=visit.by,
        now=visit.now,
    )
    return _corrected(visit, made)


def _corrected(visit: Visit, made: Made) -> Corrected:
    with visit.reading() as connection:
        return Corrected(memory=Memory.model_validate(memory_of(visit, connection, made.memory)), run=made.run)
