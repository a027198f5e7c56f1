"""Agents and scopes: every other table refers to one of them, so a key cannot cross a tenant."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Computed,
    Float,
    Index,
    Integer,
    SmallInteger,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, CreatedAt, Moment

# A scope is counted when it is large, and again when it has grown by a tenth and a hundred events.
_GROWN = "flushed_events >= 200 AND (counted_at IS NULL OR flushed_events * 10 >= counted_events * 11 + 1000)"


class Agent(Base):
    """An AI agent. `epoch` rises when it is forgotten and fences work that was queued before (I10)."""

    __tablename__ = "agents"
    __table_args__ = (
        UniqueConstraint("tenant", "name"),
        CheckConstraint("cutoff_hour BETWEEN 0 AND 23", name="cutoff_hour"),
    )

    id: Mapped[BigId]
    tenant: Mapped[str]
    name: Mapped[str]
    time_zone: Mapped[str] = mapped_column(server_default=text("'UTC'"))
    cutoff_hour: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))
    epoch: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    deleted_at: Mapped[Moment | None]
    created_at: Mapped[CreatedAt]


class Scope(Base):
    """Where memories live: an agent's own (`agent`, named as the agent), a room or a team.

    The search statistics belong to a scope: how many documents it had when its common terms were last counted, how
    long they were on average, in lexemes, and how many events had been flushed by then, which shows its growth since.

    flushed_events: their number, up to the last flush read from the ledger (flushed_through: its number, if this scope
    had one); grown: its words should be counted.
    """

    __tablename__ = "scopes"
    __table_args__ = (
        UniqueConstraint("tenant", "kind", "name"),
        CheckConstraint("kind IN ('agent', 'room', 'team')", name="kind"),
        Index("scopes_grown_idx", "id", postgresql_where=text("grown")),
        Index("scopes_flushed_through_idx", "flushed_through"),
    )

    id: Mapped[BigId]
    tenant: Mapped[str]
    kind: Mapped[str]
    name: Mapped[str]
    counted_documents: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    counted_mean_length: Mapped[float] = mapped_column(Float, server_default=text("0"))
    counted_events: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    counted_at: Mapped[Moment | None]
    flushed_events: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    flushed_through: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    grown: Mapped[bool] = mapped_column(Boolean, Computed(_GROWN, persisted=True))
    created_at: Mapped[CreatedAt]
