"""Webhooks over HTTP: create, list, rotate, enable and remove them; their delivery log, and a repeated delivery."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response
from sqlalchemy import Connection, Row

from slowwave_server.services.access.reach import Reach
from slowwave_server.services.webhooks.endpoints import (
    NewEndpoint,
    enable_endpoint,
    list_deliveries,
    list_endpoints,
    make_endpoint,
    read_endpoint,
    remove_endpoint,
    replay,
    rotate_secret,
)
from slowwave_server.services.webhooks.targets import TargetRefused, read_networks, read_target
from slowwave_server.workers.gateway.caller import nothing
from slowwave_server.workers.gateway.curating import Cursor, Limit, responses
from slowwave_server.workers.gateway.cursors import number_part, page_of, read_cursor
from slowwave_server.workers.gateway.problems import Problem
from slowwave_server.workers.gateway.routes.changes import chosen
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.schemas import webhooks as shapes
from slowwave_server.workers.gateway.visit import Visit, administers, makes_secrets

router = APIRouter(route_class=GatewayRoute, tags=["webhooks"])

Administered = Annotated[Visit, administers]


@router.get("/v1/webhooks")
def list_webhooks(visit: Administered) -> shapes.WebhookList:
    """List the webhooks whose agents and scopes the key may access."""
    with visit.reading() as connection:
        found = [row for row in list_endpoints(connection, visit.tenant) if _reached(visit, row)]
    return shapes.WebhookList(items=[shapes.Webhook.model_validate(row) for row in found])


@router.post("/v1/webhooks", status_code=201, responses=responses(403, 404))
def make_webhook(body: shapes.NewWebhook, visit: Annotated[Visit, makes_secrets]) -> shapes.WebhookWithSecret:
    """Create a webhook that receives changes from now on. Only this answer contains its secret."""
    agents, scopes = chosen(visit.caller, body.agents, body.scopes)
    if not visit.reach.covers(Reach(tuple(agents) or ("",), tuple(scopes))):
        raise Problem(403, "exceeds-key", "agents and scopes must lie within those of the key that asks")
    try:
        read_target(body.url, read_networks(visit.settings.gateway.webhooks.allow_private))
    except TargetRefused as error:
        told = [{"where": "url", "what": str(error)}]
        raise Problem(422, "target-refused", str(error), title="Nothing is sent to this URL", errors=told) from None
    with visit.writing() as connection:
        wanted = NewEndpoint(body.url, agents, scopes, body.types, body.description)
        made, secret = make_endpoint(connection, visit.tenant, wanted, by=visit.by)
        row = _endpoint(visit, connection, made)
    return _with_secret(row, secret)


@router.get("/v1/webhooks/{webhook}", responses=responses(404))
def read_webhook(webhook: UUID, visit: Administered) -> shapes.Webhook:
    """Read one webhook."""
    with visit.reading() as connection:
        return shapes.Webhook.model_validate(_endpoint(visit, connection, webhook))


@router.delete("/v1/webhooks/{webhook}", status_code=204, responses=responses(404))
def remove_webhook(webhook: UUID, visit: Administered) -> Response:
    """Remove a webhook with its delivery log."""
    with visit.writing() as connection:
        _endpoint(visit, connection, webhook)
        remove_endpoint(connection, webhook)
    return Response(status_code=204)


@router.post("/v1/webhooks/{webhook}/rotate", responses=responses(404))
def rotate(webhook: UUID, visit: Annotated[Visit, makes_secrets]) -> shapes.WebhookWithSecret:
    """Create a new secret. For 24 hours deliveries are signed with both secrets."""
    with visit.writing() as connection:
        row = _endpoint(visit, connection, webhook)
        secret = rotate_secret(connection, webhook)
    return _with_secret(row, secret)


@router.post("/v1/webhooks/{webhook}/enable", responses=responses(404))
def enable(webhook: UUID, visit: Administered) -> shapes.Webhook:
    """Enable a disabled webhook. Deliveries continue with the changes that it missed."""
    with visit.writing() as connection:
        _endpoint(visit, connection, webhook)
        enable_endpoint(connection, webhook)
        return shapes.Webhook.model_validate(_endpoint(visit, connection, webhook))


@router.get("/v1/webhooks/{webhook}/deliveries", responses=responses(404))
def list_log(
    webhook: UUID,
    visit: Administered,
    state: Annotated[shapes.DeliveryState | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> shapes.DeliveryPage:
    """List deliveries, sent and waiting, the newest first."""
    before = read_cursor(cursor, number_part)
    with visit.reading() as connection:
        _endpoint(visit, connection, webhook)
        found = list_deliveries(connection, webhook, state=state, before=before, limit=limit + 1)
    rows, more = page_of(found, limit, lambda row: (row.number,))
    return shapes.DeliveryPage(items=[_delivery(row) for row in rows], next_cursor=more)


@router.post("/v1/webhooks/{webhook}/deliveries/{delivery}/replay", responses=responses(404))
def send_again(webhook: UUID, delivery: UUID, visit: Administered) -> shapes.Delivery:
    """Send a delivery again, in any state; its id stays the same."""
    with visit.writing() as connection:
        _endpoint(visit, connection, webhook)
        row = replay(connection, webhook, delivery, now=visit.now)
    if row is None:
        raise nothing("delivery", delivery)
    return _delivery(row)


def _endpoint(visit: Visit, connection: Connection, webhook: UUID) -> Row[Any]:
    """Return the endpoint. Raises NotThere if it does not exist or the key does not reach it."""
    row = read_endpoint(connection, visit.tenant, webhook)
    if row is None or not _reached(visit, row):
        raise nothing("webhook", webhook)
    return row


def _reached(visit: Visit, row: Row[Any]) -> bool:
    return visit.reach.covers(Reach(tuple(row.agents) or ("",), tuple(row.scopes)))


def _with_secret(row: Row[Any], secret: str) -> shapes.WebhookWithSecret:
    return shapes.WebhookWithSecret(**shapes.Webhook.model_validate(row).model_dump(), secret=secret)


def _delivery(row: Row[Any]) -> shapes.Delivery:
    waits = row.next_attempt_at if row.state == "pending" else None
    named = {"type": row.change_type, "memory": row.memory_id, "next_attempt_at": waits}
    same = ("id", "change_id", "state", "attempts", "created_at", "finished_at", "response_status", "error")
    return shapes.Delivery(**named, **{name: getattr(row, name) for name in same})
