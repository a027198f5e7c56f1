"""The table of keys of the HTTP gateway: the tenant of each, its reach, and its rights."""

from uuid import UUID

from sqlalchemy import LargeBinary, Text, Uuid, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, CreatedAt, Moment


class ApiKey(Base):
    """One API key.

    prefix: its beginning, which lists show. digest: SHA-256 of the whole key; the key itself is not stored. agents:
    names or patterns with `*`; empty: all agents. scopes: "room:NAME", "team:NAME" or patterns; empty: only the
    agents' own scopes. created_by: the person or key that made it.
    """

    __tablename__ = "api_keys"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True, server_default=text("uuidv7()"))
    tenant: Mapped[str] = mapped_column(Text, server_default=text("slowwave.current_tenant()"))
    name: Mapped[str]
    prefix: Mapped[str]
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    agents: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    scopes: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    rights: Mapped[list[str]] = mapped_column(ARRAY(Text))
    created_at: Mapped[CreatedAt]
    created_by: Mapped[str]
    expires_at: Mapped[Moment | None]
    revoked_at: Mapped[Moment | None]
    last_used_at: Mapped[Moment | None]
