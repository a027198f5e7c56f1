"""Forgets over HTTP: a preview, then its confirmation, both carried out by a worker; and the state of requests."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter

from slowwave.errors import InvalidMessage
from slowwave_server.services.forget.target import Target
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.requests.store import Request, read_request
from slowwave_server.services.requests.work import ForgetArguments, confirmation
from slowwave_server.workers.gateway.asking import answered, ask
from slowwave_server.workers.gateway.caller import NotThere, nothing
from slowwave_server.workers.gateway.curating import memory_of, responses
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.schemas import curation as shapes
from slowwave_server.workers.gateway.visit import Visit, forgets, forgets_or_decides

router = APIRouter(route_class=GatewayRoute, tags=["forgetting"])


@router.post(
    "/v1/forgets",
    response_model=shapes.ForgetPreview,
    responses=responses(404, 409, 503, accepted=shapes.Request),
)
def preview_forget(body: shapes.ForgetTarget, visit: Annotated[Visit, forgets]) -> Any:
    """Preview what a forget would delete. Changes nothing."""
    given = body.model_dump(mode="json", exclude_none=True)
    target = _target(visit, given)
    asked = ask(visit, "forget_preview", given)
    return answered(asked, shapes.ForgetPreview, missing=_missing(target))


@router.post(
    "/v1/forgets/{forget}/confirm",
    response_model=shapes.Forgotten,
    responses=responses(404, 409, 503, accepted=shapes.Request),
)
def confirm_forget(forget: UUID, body: shapes.ForgetConfirmation, visit: Annotated[Visit, forgets]) -> Any:
    """Forget the previewed data permanently."""
    previewed = _own(visit, forget)
    if previewed.kind != "forget_preview":
        raise nothing("forget", forget)
    given = dict(previewed.arguments)
    target = _target(visit, given)
    if body.confirm != confirmation(target):
        raise InvalidMessage(f"confirm must be {confirmation(target)!r}, as the preview says, got {body.confirm!r:.80}")
    asked = ask(visit, "forget", given | {"confirm": body.confirm})
    return answered(asked, shapes.Forgotten, missing=_missing(target))


@router.get("/v1/requests/{request}", responses=responses(404))
def get_request(request: UUID, visit: Annotated[Visit, forgets_or_decides]) -> shapes.Request:
    """Read the state of a request that this key made."""
    return shapes.Request.model_validate(_own(visit, request))


def _own(visit: Visit, asked: UUID) -> Request:
    """Return a request of this key; a request of another key counts as missing."""
    try:
        with visit.reading() as connection:
            request = read_request(connection, visit.tenant, asked)
    except UnknownName:
        raise nothing("request", asked) from None
    if request.key_id != visit.key_id:
        raise nothing("request", asked)
    return request


def _target(visit: Visit, given: dict[str, Any]) -> Target:
    """The target of the request, within the key's reach. Raises NotThere for everything else, and InvalidName."""
    arguments = ForgetArguments.model_validate(given)
    target = arguments.target(visit.tenant)
    if target.kind == "memory" and target.memory is not None:
        with visit.reading() as connection:
            memory_of(visit, connection, target.memory)
    reached = target.scope is None or visit.reach.admits(*target.scope)
    if not reached or (target.agent is not None and not visit.reach.admits_agent(target.agent)):
        raise _missing(target)
    return target


def _missing(target: Target) -> NotThere:
    return nothing(target.kind, target.scope_label or target.session or target.agent or target.memory)
