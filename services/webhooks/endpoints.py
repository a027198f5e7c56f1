"""Manage endpoints of webhooks and their log: make, list, rotate, enable, remove, and send again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Connection, Row, delete, insert, select, text, update

from slowwave.errors import InvalidQuery
from slowwave_server.models.webhooks import WebhookDelivery, WebhookEndpoint, WebhookSecret
from slowwave_server.services.changes.feed import read_changes
from slowwave_server.services.webhooks.signing import new_secret

MOST_ENDPOINTS = 50
DeliveryState = Literal["pending", "delivered", "skipped", "dead"]
_AGAIN = text(
    "UPDATE slowwave.webhook_deliveries SET state = 'pending', attempts = 0, next_attempt_at = :now,"
    " finished_at = NULL WHERE id = :id AND endpoint_id = :endpoint RETURNING id"
)


@dataclass(frozen=True, slots=True)
class NewEndpoint:
    """A new endpoint. agents, scopes: names and patterns; types: types of changes, empty for all."""

    url: str
    agents: Sequence[str]
    scopes: Sequence[str]
    types: Sequence[str]
    description: str = ""


def make_endpoint(connection: Connection, tenant: str, wanted: NewEndpoint, *, by: str) -> tuple[UUID, str]:
    """Make an endpoint that receives changes from now on. Return its id and its secret. Raises InvalidQuery."""
    if len(list_endpoints(connection, tenant)) >= MOST_ENDPOINTS:
        raise InvalidQuery(f"a tenant has at most {MOST_ENDPOINTS} webhooks; remove one first")
    row = {
        "tenant": tenant,
        "url": wanted.url,
        "description": wanted.description,
        "agents": list(wanted.agents),
        "scopes": list(wanted.scopes),
        "types": list(wanted.types),
        "cursor": read_changes(connection, tenant, None).cursor,
        "created_by": by,
    }
    made: UUID = connection.execute(insert(WebhookEndpoint).values(**row).returning(WebhookEndpoint.id)).scalar_one()
    return made, rotate_secret(connection, made)


def rotate_secret(connection: Connection, endpoint: UUID) -> str:
    """Make a new secret for signatures. The previous one also signs for a day."""
    secret = new_secret()
    # A gateway may write this table, but not read it.
    connection.execute(insert(WebhookSecret).inline().values(endpoint_id=endpoint, secret=secret))
    return secret


def list_endpoints(connection: Connection, tenant: str) -> Sequence[Row[Any]]:
    """List all endpoints of a tenant, oldest first."""
    endpoints = select(WebhookEndpoint.__table__).where(WebhookEndpoint.tenant == tenant)
    return connection.execute(endpoints.order_by(WebhookEndpoint.id)).all()


def read_endpoint(connection: Connection, tenant: str, endpoint: UUID) -> Row[Any] | None:
    """Return one endpoint."""
    wanted = select(WebhookEndpoint.__table__).where(WebhookEndpoint.tenant == tenant, WebhookEndpoint.id == endpoint)
    return connection.execute(wanted).first()


def enable_endpoint(connection: Connection, endpoint: UUID) -> None:
    """Enable an endpoint at once, beginning with the changes that it has missed."""
    well = {"disabled_at": None, "disabled_why": None, "failing_since": None, "failures": 0, "paused_until": None}
    connection.execute(update(WebhookEndpoint).where(WebhookEndpoint.id == endpoint).values(**well))


def remove_endpoint(connection: Connection, endpoint: UUID) -> None:
    """Remove an endpoint with its secrets and its delivery log."""
    connection.execute(delete(WebhookEndpoint).where(WebhookEndpoint.id == endpoint))


def list_deliveries(
    connection: Connection, endpoint: UUID, *, state: DeliveryState | None, before: int | None, limit: int
) -> Sequence[Row[Any]]:
    """List the delivery log of an endpoint, newest first, before the row with this number."""
    wanted = select(WebhookDelivery.__table__).where(WebhookDelivery.endpoint_id == endpoint)
    if state is not None:
        wanted = wanted.where(WebhookDelivery.state == state)
    if before is not None:
        wanted = wanted.where(WebhookDelivery.number < before)
    return connection.execute(wanted.order_by(WebhookDelivery.number.desc()).limit(limit)).all()


def replay(connection: Connection, endpoint: UUID, delivery: UUID, *, now: datetime) -> Row[Any] | None:
    """Send a delivery again, under its id. Return None if the delivery does not exist."""
    if connection.execute(_AGAIN, {"id": delivery, "endpoint": endpoint, "now": now}).first() is None:
        return None
    return connection.execute(select(WebhookDelivery.__table__).where(WebhookDelivery.id == delivery)).first()
