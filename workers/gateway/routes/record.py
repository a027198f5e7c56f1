"""Records of agents' hosts: turns, milestones of tasks, notes; and requests to process them.

`Idempotency-Key` is the client's `key`. Postgres stores it, so a repetition stays harmless forever.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from sqlalchemy import select

from slowwave import Receipt
from slowwave_server.models import Memory, Scope
from slowwave_server.workers.gateway.replies import reply
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.schemas import record as shapes
from slowwave_server.workers.gateway.visit import Visit, records_by_key

router = APIRouter(tags=["record"], route_class=GatewayRoute)

Named = Annotated[str, Path(min_length=1, max_length=200)]
Recording = Annotated[Visit, records_by_key]
SESSION = "/v1/agents/{agent}/sessions/{session}"
SPOOLED: dict[int | str, dict[str, Any]] = {
    202: {"model": shapes.Receipt, "description": "Postgres is unavailable; the data waits in the gateway's spool."}
}


@router.post(f"{SESSION}/turns", response_model=shapes.Receipt, responses=SPOOLED)
def record_turn(agent: Named, session: Named, given: shapes.Turn, visit: Recording) -> Response:
    """Record the messages of one turn."""
    scope = None if given.scope is None else visit.caller.scope(given.scope)
    messages = [message.__dict__ for message in given.messages]
    return _record(
        visit,
        lambda: visit.memory.turn_completed(
            visit.agent(agent),
            session,
            messages,
            scope=scope,
            room_id=given.room_id,
            thread_id=given.thread_id,
            key=visit.idempotency_key,
        ),
    )


@router.post(f"{SESSION}/task-events", response_model=shapes.Receipt, responses=SPOOLED)
def record_milestone(agent: Named, session: Named, given: shapes.TaskMilestone, visit: Recording) -> Response:
    """Record a milestone of a task."""
    return _record(
        visit,
        lambda: visit.memory.task_event(
            visit.agent(agent), session, given.event, given.text, at=given.at, run=given.run, key=visit.idempotency_key
        ),
    )


@router.post(f"{SESSION}/prompt", response_model=shapes.Boosted)
def announce_prompt(agent: Named, session: Named, visit: Recording, _given: shapes.Empty | None = None) -> Response:
    """Report that a prompt arrived in this session. Workers flush the agent's other sessions first."""
    return reply({"boosted": list(visit.memory.prompt_arrived(visit.agent(agent), session))})


@router.post(f"{SESSION}/idle", response_model=shapes.Receipt, responses=SPOOLED)
def end_pause(agent: Named, session: Named, visit: Recording, _given: shapes.Empty | None = None) -> Response:
    """Report that the conversation paused. Workers flush the session now."""
    return _record(visit, lambda: visit.memory.session_idle(visit.agent(agent), session))


@router.post(f"{SESSION}/compacted", response_model=shapes.Receipt, responses=SPOOLED)
def compact(agent: Named, session: Named, visit: Recording, _given: shapes.Empty | None = None) -> Response:
    """Report that the host shortened the conversation's history. Workers flush the session now."""
    return _record(visit, lambda: visit.memory.session_compacted(visit.agent(agent), session))


@router.post(f"{SESSION}/reset", response_model=shapes.Receipt, responses=SPOOLED)
def reset(agent: Named, session: Named, visit: Recording, _given: shapes.Empty | None = None) -> Response:
    """Report that the conversation ended. Workers flush the session now."""
    return _record(visit, lambda: visit.memory.session_reset(visit.agent(agent), session))


@router.post("/v1/agents/{agent}/notes", response_model=shapes.Noted)
def note(agent: Named, given: shapes.Note, visit: Recording) -> Response:
    """Add a note to the agent's working memory. The next consolidation cycle makes it a memory, or lets it expire."""
    visit.agent(agent)
    if given.scope is not None:
        visit.caller.scope(given.scope)
    visit.check_quota()
    fields = given.model_dump()
    if visit.taken is not None:
        noted = visit.memory.note_late(agent, fields, visit.idempotency_key)
    else:
        noted = visit.memory.remember(agent, key=visit.idempotency_key, **fields)
    visit.count(int(noted.added))
    return reply({"id": str(noted.id), "added": noted.added, "expires_at": noted.expires_at.isoformat()})


@router.post("/v1/agents/{agent}/used", response_model=shapes.Marked)
def mark_used(agent: Named, given: shapes.UsedMemories, visit: Recording) -> Response:
    """Report that a reply used these memories, or that a prompt contained them. A repeated request changes nothing."""
    visit.agent(agent)
    with visit.reading() as connection:
        reached = connection.execute(
            select(Memory.id)
            .join(Scope, Scope.id == Memory.scope_id)
            .where(Memory.id.in_(given.memories), Scope.tenant == visit.tenant, visit.reach.scopes_condition())
        ).scalars()
        ids = list(reached)
    if given.shown and given.session is not None:
        visit.memory.backend.show(agent, given.session, map(str, ids))
        return reply({"marked": len(ids)})
    return reply({"marked": visit.memory.used(agent, ids, given.session) if ids else 0})


def _record(visit: Visit, hook: Callable[[], Receipt]) -> Response:
    visit.check_quota()
    receipt = hook()
    visit.count(receipt.added)
    return reply(receipt._asdict(), HTTPStatus.ACCEPTED if receipt.stored == "spool" else HTTPStatus.OK)
