"""Tables of memories, and of the events that are their sources."""

from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, Moment
from slowwave_server.models.search import GIN_OPTIONS


def _profile_index(place: int) -> Index:
    """Return the index over the attribute at one position of a memory's profile."""
    return Index(
        f"memories_profile_{place}_idx",
        "scope_id",
        text(f"((profile -> {place}) ->> 'person'::text)"),
        text(f"((profile -> {place}) ->> 'attribute'::text)"),
        text("reaffirmed_at DESC"),
        postgresql_where=text(
            f"profile -> {place} IS NOT NULL AND status IN ('inbox', 'episode', 'active') AND valid_to IS NULL"
        ),
    )


class Memory(Base):
    """One durable statement of a scope. No two memories that are not archived say the same (I2, mistake 27)."""

    __tablename__ = "memories"
    __table_args__ = (
        CheckConstraint(
            "type IN ('fact', 'preference', 'decision', 'task', 'event', 'summary', 'instruction', 'result', 'lesson')",
            name="type",
        ),
        CheckConstraint("status IN ('inbox', 'episode', 'active', 'archived', 'review')", name="status"),
        CheckConstraint("trust IN ('hand', 'user', 'assistant', 'task', 'import')", name="trust"),
        CheckConstraint("confidence BETWEEN 0 AND 1 AND importance BETWEEN 0 AND 1", name="shares"),
        Index(
            "memories_live_content_idx",
            "scope_id",
            "type",
            "content_hash",
            unique=True,
            postgresql_where=text("status <> 'archived'"),
        ),
        Index(
            "memories_recent_idx", "scope_id", text("valid_from DESC"), postgresql_where=text("status <> 'archived'")
        ),
        Index(
            "memories_important_idx",
            "scope_id",
            text("slowwave.learned_importance(importance, use_gain) DESC"),
            text("valid_from DESC"),
            postgresql_where=text("status IN ('inbox', 'episode', 'active') AND valid_to IS NULL"),
        ),
        Index(
            "memories_archived_content_idx",
            "scope_id",
            "type",
            "content_hash",
            postgresql_where=text("status = 'archived'"),
        ),
        # Memories in every context: standing instructions, and a person's statements about themselves by attribute.
        Index(
            "memories_instructions_idx",
            "scope_id",
            text("reaffirmed_at DESC"),
            postgresql_where=text(
                "type = 'instruction' AND status IN ('inbox', 'episode', 'active') AND valid_to IS NULL"
            ),
        ),
        *(_profile_index(place) for place in range(2)),
        # Few memories state an ending, and every flush with a possible ending searches them.
        Index(
            "memories_endings_idx",
            "scope_id",
            postgresql_where=text("content ~ '^[^:]{1,80} (called off|lifted an instruction|corrected): '"),
        ),
        Index("memories_use_idx", "id", postgresql_where=text("use_gain <> 0")),
        Index("memories_merged_idx", "merged_into", postgresql_where=text("merged_into IS NOT NULL")),
        Index("memories_superseded_idx", "superseded_by", postgresql_where=text("superseded_by IS NOT NULL")),
        # Memories that no pass has checked since they were created or said again, oldest first.
        Index(
            "memories_unchecked_idx",
            "scope_id",
            "recorded_at",
            "id",
            postgresql_where=text("checked_at IS NULL AND status IN ('inbox', 'episode', 'active')"),
        ),
        # The languages of a scope; English memories are not in this index.
        Index("memories_language_idx", "scope_id", "language", postgresql_where=text("language <> 'en'")),
        Index("memories_search_idx", "search", postgresql_using="gin", postgresql_with=GIN_OPTIONS),
    )

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
    __table_args__ = (
        Index("memory_sources_event_idx", "session_id", "seq"),
        Index("memory_sources_via_idx", "via", postgresql_where=text("via IS NOT NULL")),
    )

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
    __table_args__ = (
        UniqueConstraint("memory_id", "session_id", name="memory_uses_key", postgresql_nulls_not_distinct=True),
        Index("memory_uses_session_idx", "session_id", postgresql_where=text("session_id IS NOT NULL")),
    )

    id: Mapped[BigId]
    memory_id: Mapped[UUID] = mapped_column(Uuid, ForeignKey("slowwave.memories.id", ondelete="CASCADE"))
    session_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("slowwave.sessions.id", ondelete="CASCADE"))
    shown_at: Mapped[Moment | None]
    last_used_at: Mapped[Moment | None]
