"""Tables of agents and scopes. Every other table refers to one of them, so that a key can't cross a tenant."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Computed,
    Float,
    Integer,
    SmallInteger,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, CreatedAt, Moment

# A scope is counted when it is large, and again when it has grown by a tenth and a hundred events.
_GROWN = "flushed_events >= 200 AND (counted_at IS NULL OR flushed_events * 10 >= counted_events * 11 + 1000)"


class Agent(Base):
    """An AI agent. Each forget raises `epoch`; queued work with an older epoch is discarded (I10)."""

    __tablename__ = "agents"

    id: Mapped[BigId]
    tenant: Mapped[str]
    name: Mapped[str]
    time_zone: Mapped[str] = mapped_column(server_default=text("'UTC'"))
    cutoff_hour: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))
    epoch: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    deleted_at: Mapped[Moment | None]
    created_at: Mapped[CreatedAt]


class Scope(Base):
    """The owner of memories: an agent's own scope (`agent`, with the agent's name), a room or a team.

    Search statistics: the number of documents when common terms were last counted, their average length in lexemes,
    and the number of events flushed by then. flushed_events: the number of flushed events, up to the ledger row
    flushed_through. grown: true if the words should be counted again.
    """

    __tablename__ = "scopes"

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
