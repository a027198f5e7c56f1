"""The table of requests of HTTP callers and clients to a worker. A request stays if its message is lost."""

from typing import Any
from uuid import UUID

from sqlalchemy import Integer, Text, Uuid, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, CreatedAt, Json, Moment


class WorkRequest(Base):
    """One request to a worker.

    key_id: the API key of the caller, if any. asked_by: the Postgres login that wrote the row. result: the result of a
    request that succeeded or failed. error: the reason of a failure. attempts: the number of times that a worker began
    it.
    """

    __tablename__ = "requests"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True, server_default=text("uuidv7()"))
    tenant: Mapped[str] = mapped_column(Text, server_default=text("slowwave.current_tenant()"))
    key_id: Mapped[UUID | None] = mapped_column(Uuid)
    asked_by: Mapped[str] = mapped_column(Text, server_default=text("SESSION_USER"))
    kind: Mapped[str]
    arguments: Mapped[Json]
    state: Mapped[str] = mapped_column(Text, server_default=text("'waiting'"))
    attempts: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    result: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    error: Mapped[str | None]
    created_at: Mapped[CreatedAt]
    started_at: Mapped[Moment | None]
    finished_at: Mapped[Moment | None]
