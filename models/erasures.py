"""Receipts of forgets, and fences of names against older data (I10), never with forgotten text."""

from uuid import UUID

from sqlalchemy import BigInteger, Text, Uuid, text
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, Json, Moment


class Erasure(Base):
    """The receipt of one forget: its target, and the number of deleted rows of each kind."""

    __tablename__ = "erasures"

    id: Mapped[BigId]
    tenant: Mapped[str]
    kind: Mapped[str]
    agent: Mapped[str | None]
    session: Mapped[str | None]
    scope: Mapped[str | None]
    memory_id: Mapped[UUID | None] = mapped_column(Uuid)
    erased_at: Mapped[Moment]
    erased_by: Mapped[str | None]
    counts: Mapped[Json]


class ErasedName(Base):
    """A fence after a forget: queued data of this agent and session from before `erased_at` is discarded on arrival.

    session: '' means all sessions of the agent. For a forgotten scope, agent is '' and session is the scope as
    `kind:name`.
    """

    __tablename__ = "erased_names"

    tenant: Mapped[str] = mapped_column(Text, primary_key=True)
    agent: Mapped[str] = mapped_column(Text, primary_key=True)
    session: Mapped[str] = mapped_column(Text, primary_key=True, server_default=text("''"))
    erased_at: Mapped[Moment]
    erasure_id: Mapped[int] = mapped_column(BigInteger)
