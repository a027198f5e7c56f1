"""Webhooks, and their delivery log."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from slowwave.changes import Change, ChangeType
from slowwave_server.services.webhooks.delivery import MOST_CHANGES
from slowwave_server.workers.gateway.schemas.shapes import Answer

DeliveryState = Literal["pending", "delivered", "skipped", "dead"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class NewWebhook(BaseModel):
    """A new webhook. Without agents and scopes it receives all changes that the key may access."""

    model_config = ConfigDict(extra="forbid")

    url: Annotated[str, StringConstraints(min_length=1, max_length=2000)] = Field(
        examples=["https://example.com/hooks/memory"]
    )
    description: Annotated[str, StringConstraints(max_length=500)] = ""
    agents: list[Name] = Field(default=[], max_length=100, description="names; `*` matches any characters")
    scopes: list[Name] = Field(default=[], max_length=100, examples=[["room:kitchen"]])
    types: list[ChangeType] = Field(default=[], description="types of changes; empty: all")


class Webhook(Answer):
    """A webhook. failing_since: the first failure since the last success. disabled_why: the reason for disabling it."""

    id: UUID
    url: str
    description: str
    agents: list[str]
    scopes: list[str]
    types: list[str]
    created_at: datetime
    created_by: str
    disabled_at: datetime | None
    disabled_why: str | None
    failing_since: datetime | None
    last_success_at: datetime | None


class WebhookWithSecret(Webhook):
    """A webhook and its new secret, which only this answer contains."""

    secret: str = Field(examples=["whsec_…"])


class WebhookList(Answer):
    """All webhooks that the key may access."""

    items: list[Webhook]
    next_cursor: None = None


class Delivery(Answer):
    """One change for one webhook. skipped: the memory was deleted. dead: all attempts failed; a replay sends it."""

    id: UUID
    change_id: str
    type: str
    memory: UUID
    state: DeliveryState
    attempts: int
    next_attempt_at: datetime | None
    created_at: datetime
    finished_at: datetime | None
    response_status: int | None
    error: str | None


class DeliveryPage(Answer):
    """Part of a delivery log, the newest first."""

    items: list[Delivery]
    next_cursor: str | None


class WebhookChanges(BaseModel):
    """Changes in the order of the feed."""

    changes: list[Change] = Field(min_length=1, max_length=MOST_CHANGES)


class WebhookMessage(BaseModel):
    """The body that is sent, with the headers webhook-id, webhook-timestamp and webhook-signature."""

    type: Literal["memory.changes"]
    timestamp: datetime
    data: WebhookChanges
