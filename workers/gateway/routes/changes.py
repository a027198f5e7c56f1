"""The stream of changes, as server-sent events."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from sse_starlette import EventSourceResponse

from slowwave.changes import BEGINNING, Change, CursorExpired, check_cursor, places_of
from slowwave.errors import RateLimited
from slowwave_server.services.access.reach import Reach
from slowwave_server.workers.gateway.caller import Caller
from slowwave_server.workers.gateway.change_feeds import Stream
from slowwave_server.workers.gateway.change_streams import Streams
from slowwave_server.workers.gateway.problems import Problem
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.visit import Visit, reads

router = APIRouter(tags=["changes"], route_class=GatewayRoute)

SEND_SECONDS = 30.0
"""A client that takes nothing for so long is gone."""
MOST_NAMES = 100
_TOLD: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events named `change`. The data of an event is a Change; its id is for Last-Event-ID.",
        "model": Change,
    },
}


class Events(EventSourceResponse):
    """A stream of server-sent events."""

    media_type = "text/event-stream"


Names = Annotated[list[str], Query(max_length=MOST_NAMES)]


def chosen(caller: Caller, agents: Sequence[str], scopes: Sequence[str]) -> tuple[list[str], list[str]]:
    """The subjects of a stream: names that the key reaches, and patterns. Raises NotThere, InvalidName."""
    for agent in agents:
        if "*" not in agent:
            caller.agent(agent)
    for scope in scopes:
        if "*" not in scope:
            caller.scope(scope)
    if not agents and not scopes:
        shared = [one for scope in caller.scopes for one in (("room:*", "team:*") if scope == "*" else (scope,))]
        return list(caller.agents) or ["*"], shared
    return list(agents), list(scopes)


def stream_of(caller: Caller, agents: Sequence[str], scopes: Sequence[str], after: str | None) -> Stream:
    """Open a stream within the reach of the key. Raises NotThere, InvalidName, InvalidQuery."""
    wanted_agents, wanted_scopes = chosen(caller, agents, scopes)
    wanted, reach = Reach(tuple(wanted_agents) or ("",), tuple(wanted_scopes)), caller.reach

    def admits(change: Change) -> bool:
        kind, _, name = change.memory.scope.partition(":")
        return wanted.admits(kind, name) and reach.admits(kind, name)

    cursor = None if after is None else check_cursor(after)
    return Stream(caller, places_of(wanted_agents, wanted_scopes), admits, cursor)


@router.get("/v1/changes", response_class=Events, responses=_TOLD)
async def follow_changes(
    request: Request,
    visit: Annotated[Visit, reads],
    agent: Names = [],  # noqa: B006 (FastAPI copies it)
    scope: Names = [],  # noqa: B006
    after: Annotated[str | None, Query(description=f"the id of the last change; {BEGINNING} for all so far")] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Events:
    """Stream changes of memories as server-sent events: each at least once, in commit order.

    Without `agent` and `scope` the stream has all changes that the key may access. `*` matches any characters. Without
    `after` and Last-Event-ID the stream begins with the next change.
    """
    streams: Streams = request.app.state.streams
    stream = stream_of(visit.caller, agent, scope, last_event_id or after)
    try:
        page = await streams.first(stream)
    except CursorExpired as error:
        raise Problem(410, "cursor-expired", str(error), title="The cursor can't be used") from None
    except RateLimited as error:
        seconds = {"Retry-After": str(round(error.retry_after))}
        raise Problem(429, "too-many-streams", str(error), headers=seconds) from None
    return Events(streams.frames(stream, page), ping=0, sep="\n", send_timeout=SEND_SECONDS)
