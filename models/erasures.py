"""Forgets: their receipts, and fences of names against older data (I10).

These tables never hold forgotten text.
"""

from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Index, Text, Uuid, text
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, Json, Moment


class Erasure(Base):
    """The receipt of one `forget`: its target, and the number of deleted rows by kind."""

    __tablename__ = "erasures"
    __table_args__ = (
        CheckConstraint("kind IN ('agent', 'session', 'scope', 'memory', 'import')", name="kind"),
        Index("erasures_tenant_idx", "tenant", "id"),
    )

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
    """A fence: queued data of this agent and session from before `erased_at` is discarded on arrival. session '': all
    sessions of the agent. A scope's fence has agent '' (which names no agent), and the scope as `kind:name` in place of
    a session.
    """

    __tablename__ = "erased_names"

    tenant: Mapped[str] = mapped_column(Text, primary_key=True)
    agent: Mapped[str] = mapped_column(Text, primary_key=True)
    session: Mapped[str] = mapped_column(Text, primary_key=True, server_default=text("''"))
    erased_at: Mapped[Moment]
    erasure_id: Mapped[int] = mapped_column(BigInteger)
