"""Tables of memories, and of the events that are their sources."""

from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, Moment


class Memory(Base):
    """One durable statement of a scope. No two memories that are not archived say the same (I2, mistake 27)."""

    __tablename__ = "memories"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True, server_default=text("uuidv7()"))
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.scopes.id"))
    type: Mapped[str]
    content: Mapped[str]
    content_hash: Mapped[bytes] = mapped_column(LargeBinary)
    status: Mapped[str] = mapped_column(server_default=text("'inbox'"))
    confidence: Mapped[float] = mapped_column(Float)
    importance: Mapped[float] = mapped_column(Float)
    # The gain of importance from use (domain.learned_importance).
    use_gain: Mapped[float] = mapped_column(Float, server_default=text("0"))
    trust: Mapped[str]
    entities: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    valid_from: Mapped[Moment]
    valid_to: Mapped[Moment | None]
    # The time of the latest statement of the memory; valid_from is the first.
    reaffirmed_at: Mapped[Moment]
    recorded_at: Mapped[Moment]
    superseded_by: Mapped[UUID | None] = mapped_column(Uuid, ForeignKey("slowwave.memories.id"))
    merged_into: Mapped[UUID | None] = mapped_column(Uuid, ForeignKey("slowwave.memories.id"))
    archive_reason: Mapped[str | None]
    # Each change increases it. A writer changes the row only if it still has the revision that the writer read.
    revision: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    checked_at: Mapped[Moment | None]
    search: Mapped[str] = mapped_column(TSVECTOR)
    # ISO 639-1 (domain.languages): the language by which its words are stemmed.
    language: Mapped[str] = mapped_column(server_default=text("'en'"))
    # The memory's claims about its speaker: at most two of {person, attribute, value, ended} (domain.profile).
    profile: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default=text("'[]'"))


class MemorySource(Base):
    """The source of a memory in a conversation: one event. Repeats and merges add sources; only an undo removes one.

    The other columns are the scores of this event for the memory; slowwave.score_memory computes the memory's
    scores from all sources. via: the merged memory that brought this source; NULL if the event states the memory's
    own text.
    """

    __tablename__ = "memory_sources"

    memory_id: Mapped[UUID] = mapped_column(Uuid, ForeignKey("slowwave.memories.id"), primary_key=True)
    session_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.sessions.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    confidence: Mapped[float] = mapped_column(Float)
    importance: Mapped[float] = mapped_column(Float)
    trust: Mapped[str]
    holds_from: Mapped[Moment]
    via: Mapped[UUID | None] = mapped_column(Uuid)


class MemoryUse(Base):
    """The use of a memory in one conversation, in one row, however often it was shown or used.

    session_id: NULL for all conversations that Slowwave has not recorded. shown_at: the last time at which a context
    showed the memory; last_used_at: the last time at which a reply used it; NULL if never.
    """

    __tablename__ = "memory_uses"

    id: Mapped[BigId]
    memory_id: Mapped[UUID] = mapped_column(Uuid, ForeignKey("slowwave.memories.id", ondelete="CASCADE"))
    session_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("slowwave.sessions.id", ondelete="CASCADE"))
    shown_at: Mapped[Moment | None]
    last_used_at: Mapped[Moment | None]
