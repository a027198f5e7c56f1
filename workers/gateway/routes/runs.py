"""Runs over HTTP: groups of changes to memories, and their undo."""

from typing import Annotated, Any

from fastapi import APIRouter, Path

from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.run_list import list_runs
from slowwave_server.services.reports.runs import RunStory, read_run
from slowwave_server.services.requests.work import scope_named
from slowwave_server.services.runs.store import RunKind
from slowwave_server.workers.gateway.asking import answered, ask
from slowwave_server.workers.gateway.caller import nothing
from slowwave_server.workers.gateway.curating import AnyScope, Cursor, Limit, check_scope, responses
from slowwave_server.workers.gateway.cursors import number_part, page_of, read_cursor, write_cursor
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.schemas import curation as shapes
from slowwave_server.workers.gateway.visit import Visit, decides, reads

router = APIRouter(route_class=GatewayRoute, tags=["runs"])

RunNumber = Annotated[int, Path(ge=1, lt=2**63)]


@router.get("/v1/runs")
def list_runs_of_key(
    visit: Annotated[Visit, reads],
    scope: AnyScope = None,
    kind: RunKind | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> shapes.RunPage:
    """List the runs over scopes that the key may access, the newest first."""
    before = read_cursor(cursor, number_part)
    place = None if scope is None else scope_named(scope)
    with visit.reading() as connection:
        if place is not None:
            check_scope(visit, *place)
        found = list_runs(
            connection, visit.tenant, scope=place, kind=kind, reach=visit.reach, before=before, limit=limit + 1
        )
    runs, more = page_of(found, limit, lambda one: (one.id,))
    return shapes.RunPage(items=[shapes.Run.model_validate(one) for one in runs], next_cursor=more)


@router.get("/v1/runs/{run}", responses=responses(404))
def get_run(
    run: RunNumber, visit: Annotated[Visit, reads], limit: Limit = 50, cursor: Cursor = None
) -> shapes.RunStory:
    """Read one run with a page of its changes."""
    after = read_cursor(cursor, number_part) or 0
    story = _story(visit, run, after=after, limit=limit)
    return shapes.RunStory(
        run=shapes.Run.model_validate(story.run),
        actions=story.actions,
        added=story.added,
        changed=story.changed,
        parts=list(story.parts),
        items=[shapes.RunChange.model_validate(one) for one in story.changes],
        next_cursor=None if story.more_after is None else write_cursor(story.more_after),
    )


@router.post(
    "/v1/runs/{run}/undo",
    response_model=shapes.Undone,
    responses=responses(404, 409, 503, accepted=shapes.Request),
)
def undo_run(run: RunNumber, body: shapes.UndoBody, visit: Annotated[Visit, decides]) -> Any:
    """Undo a run. The undo is a run, too. If later runs depend on the run, it is refused."""
    _story(visit, run, after=0, limit=1)
    asked = ask(visit, "undo", {"run": run, "no_repeat": body.no_repeat})
    return answered(asked, shapes.Undone, missing=nothing("run", run))


def _story(visit: Visit, run: int, *, after: int, limit: int) -> RunStory:
    try:
        with visit.reading() as connection:
            return read_run(connection, visit.tenant, run, reach=visit.reach, after=after, limit=limit)
    except UnknownName:
        raise nothing("run", run) from None
