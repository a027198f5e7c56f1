"""Tables of webhooks: URLs that get changes, signing secrets, and the outbox of deliveries."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    DateTime,
    ForeignKey,
    Identity,
    Integer,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, CreatedAt, Moment

_NEW_ID = text("uuidv7()")


class WebhookEndpoint(Base):
    """A URL that receives changes. cursor: the position in the change feed up to which deliveries were queued.

    failures: the number of consecutive failures, since `failing_since`. Until `paused_until` nothing is sent.
    disabled_why: the reason, if the webhook is disabled.
    """

    __tablename__ = "webhook_endpoints"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True, server_default=_NEW_ID)
    tenant: Mapped[str] = mapped_column(Text, server_default=text("slowwave.current_tenant()"))
    url: Mapped[str]
    description: Mapped[str] = mapped_column(Text, server_default="")
    agents: Mapped[list[str]] = mapped_column(ARRAY(Text))
    scopes: Mapped[list[str]] = mapped_column(ARRAY(Text))
    types: Mapped[list[str]] = mapped_column(ARRAY(Text))
    cursor: Mapped[str]
    created_at: Mapped[CreatedAt]
    created_by: Mapped[str]
    disabled_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    disabled_why: Mapped[str | None]
    failing_since: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    failures: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    paused_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    last_success_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class WebhookSecret(Base):
    """A signing secret; the newest signs, for a day the previous one too. A gateway adds rows and can't read them."""

    __tablename__ = "webhook_secrets"

    id: Mapped[BigId]
    endpoint_id: Mapped[UUID] = mapped_column(Uuid, ForeignKey("slowwave.webhook_endpoints.id", ondelete="CASCADE"))
    secret: Mapped[str]
    made_at: Mapped[CreatedAt]


class WebhookDelivery(Base):
    """A change that a webhook must receive. The memory's text is not stored here; it is read when the change is sent.

    id: the same for each attempt. skipped: the memory was deleted before the delivery.
    """

    __tablename__ = "webhook_deliveries"

    number: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    id: Mapped[UUID] = mapped_column(Uuid, server_default=_NEW_ID)
    endpoint_id: Mapped[UUID] = mapped_column(Uuid, ForeignKey("slowwave.webhook_endpoints.id", ondelete="CASCADE"))
    change_id: Mapped[str]
    change_type: Mapped[str]
    memory_id: Mapped[UUID] = mapped_column(Uuid)
    state: Mapped[str] = mapped_column(Text, server_default="pending")
    attempts: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    next_attempt_at: Mapped[Moment]
    created_at: Mapped[CreatedAt]
    finished_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    response_status: Mapped[int | None] = mapped_column(Integer)
    error: Mapped[str | None]
