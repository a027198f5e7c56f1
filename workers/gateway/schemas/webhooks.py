"""Webhooks, and their delivery log."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from slowwave.changes import ChangeType
from slowwave_server.workers.gateway.schemas.changes import Change
from slowwave_server.workers.gateway.schemas.shapes import Answer

DeliveryState = Literal["pending", "delivered", "skipped", "dead"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class NewWebhook(BaseModel):
    """A URL that is to be told of changes from now on. Without agents and scopes: of all that the key reaches."""

    model_config = ConfigDict(extra="forbid")

    url: Annotated[str, StringConstraints(min_length=1, max_length=2000)] = Field(
        examples=["https://example.com/hooks/memory"]
    )
    description: Annotated[str, StringConstraints(max_length=500)] = ""
    agents: list[Name] = Field(default=[], max_length=100, description="names; `*` stands for any characters")
    scopes: list[Name] = Field(default=[], max_length=100, examples=[["room:kitchen"]])
    types: list[ChangeType] = Field(default=[], description="which changes; none for all")


class Webhook(Answer):
    """An endpoint. failing_since: the first failure since the last success. disabled_why: the reason."""

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
    """An endpoint and its new secret, which is in this answer and nowhere else."""

    secret: str = Field(examples=["whsec_…"])


class WebhookList(Answer):
    """All endpoints that the key reaches."""

    items: list[Webhook]
    next_cursor: None = None


class Delivery(Answer):
    """One change for one endpoint. skipped: the memory was deleted. dead: given up, until a replay."""

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


class WebhookMessage(BaseModel):
    """The body that is sent, with the headers webhook-id, webhook-timestamp and webhook-signature."""

    type: str = Field(examples=["memory.created"])
    timestamp: datetime
    data: Change
