"""Tables of consolidation: links, triples, conflicts, reviews, working memory, keys of similar memories."""

from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Float, ForeignKey, Uuid, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, CreatedAt, Json, Moment
from slowwave_server.models.changes import THIS_TRANSACTION, TransactionId

_MEMORY = "slowwave.memories.id"
_RUN = "slowwave.maintenance_runs.id"


class MemoryLink(Base):
    """A link between two memories. confidence: of `related_to` the similarity; ended_by: the run that removed it."""

    __tablename__ = "memory_links"

    id: Mapped[BigId]
    source_id: Mapped[UUID] = mapped_column(Uuid, ForeignKey(_MEMORY))
    target_id: Mapped[UUID] = mapped_column(Uuid, ForeignKey(_MEMORY))
    predicate: Mapped[str]
    confidence: Mapped[float] = mapped_column(Float)
    run_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey(_RUN))
    ended_by: Mapped[int | None] = mapped_column(BigInteger, ForeignKey(_RUN))
    created_at: Mapped[CreatedAt]


class Triple(Base):
    """A relation that a memory states: subject, predicate and object, with the types of subject and object."""

    __tablename__ = "triples"

    id: Mapped[BigId]
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.scopes.id"))
    memory_id: Mapped[UUID] = mapped_column(Uuid, ForeignKey(_MEMORY))
    subject: Mapped[str]
    subject_type: Mapped[str]
    predicate: Mapped[str]
    object: Mapped[str]
    object_type: Mapped[str]
    confidence: Mapped[float] = mapped_column(Float)
    extractor: Mapped[str]
    run_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey(_RUN))
    created_at: Mapped[CreatedAt]


class MemoryConflict(Base):
    """Two memories that can't both be true. Both stay readable. A pair is stored once, with the smaller id first.

    evidence: the texts of both memories; `form`, if they differ only in numbers; `asked`, the answer of a model.
    """

    __tablename__ = "memory_conflicts"

    id: Mapped[BigId]
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.scopes.id"))
    memory_id: Mapped[UUID] = mapped_column(Uuid, ForeignKey(_MEMORY))
    conflicting_memory_id: Mapped[UUID] = mapped_column(Uuid, ForeignKey(_MEMORY))
    reason: Mapped[str]
    evidence: Mapped[Json]
    status: Mapped[str] = mapped_column(server_default=text("'open'"))
    resolution: Mapped[str | None]
    run_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey(_RUN))
    created_at: Mapped[CreatedAt]
    decided_at: Mapped[Moment | None]
    decided_by: Mapped[str | None]


class ReviewItem(Base):
    """A question to a person about a memory or a conflict. It is open until somebody decides it or it expires."""

    __tablename__ = "review_items"

    id: Mapped[BigId]
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.scopes.id"))
    memory_id: Mapped[UUID | None] = mapped_column(Uuid, ForeignKey(_MEMORY))
    conflict_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("slowwave.memory_conflicts.id"))
    why: Mapped[str]
    tier: Mapped[str]
    state: Mapped[str] = mapped_column(server_default=text("'open'"))
    expires_at: Mapped[Moment]
    run_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey(_RUN))
    created_at: Mapped[CreatedAt]
    decided_at: Mapped[Moment | None]
    decided_by: Mapped[str | None]


class WorkingItem(Base):
    """A note of an agent.

    It is open until a cycle turns it into a memory or drops it as a repetition, or until it expires. The row stays, so
    that every memory can be traced to its note. A failed note is open again a day later.
    """

    __tablename__ = "working_memory"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True, server_default=text("uuidv7()"))
    agent_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.agents.id"))
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.scopes.id"))
    # The name of the session in which it was noted; Slowwave may have no such session.
    session: Mapped[str | None]
    type: Mapped[str]
    content: Mapped[str]
    importance: Mapped[float] = mapped_column(Float)
    marked: Mapped[bool] = mapped_column(server_default=text("false"))
    key: Mapped[str | None]
    said_at: Mapped[Moment]
    expires_at: Mapped[Moment]
    outcome: Mapped[str | None]
    settled_at: Mapped[Moment | None]
    error: Mapped[str | None]
    run_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey(_RUN))


class MemoryNote(Base):
    """The source of a memory in working memory: one note. via: see MemorySource."""

    __tablename__ = "memory_notes"

    memory_id: Mapped[UUID] = mapped_column(Uuid, ForeignKey(_MEMORY), primary_key=True)
    working_id: Mapped[UUID] = mapped_column(Uuid, ForeignKey("slowwave.working_memory.id"), primary_key=True)
    confidence: Mapped[float] = mapped_column(Float)
    importance: Mapped[float] = mapped_column(Float)
    trust: Mapped[str]
    holds_from: Mapped[Moment]
    via: Mapped[UUID | None] = mapped_column(Uuid)


class MemoryBlock(Base):
    """A block key of a memory. Memories that share a key are compared; a pass never compares all pairs."""

    __tablename__ = "memory_blocks"

    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.scopes.id"), primary_key=True)
    key: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    memory_id: Mapped[UUID] = mapped_column(Uuid, ForeignKey(_MEMORY), primary_key=True)


class MemoryChange(Base):
    """One change of one memory: values before and after, and the reason. An undo that deletes the memory keeps it."""

    __tablename__ = "memory_changes"

    id: Mapped[BigId]
    memory_id: Mapped[UUID] = mapped_column(Uuid)
    flush_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("slowwave.flushes.id"))
    run_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey(_RUN))
    action: Mapped[str]
    before: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    after: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    reason: Mapped[str]
    made_by: Mapped[str | None]
    made_at: Mapped[CreatedAt]
    xid: Mapped[str] = mapped_column(TransactionId, server_default=THIS_TRANSACTION)
