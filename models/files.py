"""Memory outside of Postgres: what is still to be delivered to another backend, what its files held when they were
last written, and what was read from files.

Must not know: formats, folders, how a backend is reached.
"""

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
    SmallInteger,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, CreatedAt, Moment

_MEMORY = "slowwave.memories.id"
_SCOPE = "slowwave.scopes.id"
_RUN = "slowwave.maintenance_runs.id"


class MemoryBackend(Base):
    """A backend beside Postgres that is fed: while it stands here, every change of a memory is queued for it.

    identity: of mem0, what its vectors are made by.
    """

    __tablename__ = "memory_backends"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    since: Mapped[CreatedAt]
    identity: Mapped[str | None]


class OutboxItem(Base):
    """A memory that a backend has to hear of. Waiting while `delivered < changes`: what changes during a delivery is
    counted up and delivered again. No foreign key to the memory: that one is gone is news, too. Of mem0 a row stays
    while there may be a copy, also where nobody feeds it any more; forgotten: a forget concerns it, and it waits on.
    """

    __tablename__ = "outbox"
    __table_args__ = (
        Index(
            "outbox_waiting_idx",
            "backend",
            "scope_id",
            text("not_before NULLS FIRST"),
            "queued_at",
            "memory_id",
            postgresql_where=text("delivered < changes"),
        ),
        Index("outbox_scope_idx", "scope_id"),
        CheckConstraint("delivered <= changes", name="delivered"),
    )

    memory_id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    backend: Mapped[str] = mapped_column(Text, primary_key=True)
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_SCOPE))
    changes: Mapped[int] = mapped_column(Integer, server_default=text("1"))
    delivered: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    attempts: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))
    not_before: Mapped[Moment | None]
    last_error: Mapped[str | None]
    queued_at: Mapped[CreatedAt]
    delivered_at: Mapped[Moment | None]
    forgotten: Mapped[bool] = mapped_column(server_default=text("false"))


class FileState(Base):
    """A memory file as it was when it was last written or read: what differs from that, somebody edited.

    digest: empty until it was written once. modified_ns: the time of its last change then, of its file system. writing:
    the digest of a write under way: a file that has it was written, though nobody lived to note that. held: why it is
    neither read nor written until somebody says what is meant.
    """

    __tablename__ = "memory_files"

    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_SCOPE), primary_key=True)
    path: Mapped[str] = mapped_column(Text, primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    size: Mapped[int] = mapped_column(BigInteger)
    modified_ns: Mapped[int] = mapped_column(BigInteger)
    writing: Mapped[bytes | None] = mapped_column(LargeBinary)
    held: Mapped[str | None]
    checked_at: Mapped[Moment]


class FileLine(Base):
    """A memory's line in a file: a digest of it as it was last written or read, and the memory's revision then."""

    __tablename__ = "memory_file_lines"
    __table_args__ = (Index("memory_file_lines_memory_idx", "memory_id"),)

    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_SCOPE), primary_key=True)
    path: Mapped[str] = mapped_column(Text, primary_key=True)
    memory_id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    revision: Mapped[int] = mapped_column(Integer)


class MemoryImport(Base):
    """Provenance of what was read from a file: this memory stands in that line. `via` as in MemorySource.

    digest: of the line's statement and marks, so that reading it twice changes nothing. sources: [[session, seq], …] as
    the line names them, which need not exist here. reaffirmed_at: the last time from which it was said to hold, where
    the line knows of one; holds_from is the first.
    """

    __tablename__ = "memory_imports"
    __table_args__ = (
        Index("memory_imports_via_idx", "via", postgresql_where=text("via IS NOT NULL")),
        Index("memory_imports_run_idx", "run_id"),
        CheckConstraint("trust IN ('hand', 'user', 'assistant', 'task', 'import')", name="trust"),
    )

    memory_id: Mapped[UUID] = mapped_column(Uuid, ForeignKey(_MEMORY), primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    file: Mapped[str]
    sources: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))
    confidence: Mapped[float] = mapped_column(Float)
    importance: Mapped[float] = mapped_column(Float)
    trust: Mapped[str]
    holds_from: Mapped[Moment]
    reaffirmed_at: Mapped[Moment | None]
    via: Mapped[UUID | None] = mapped_column(Uuid)
    run_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey(_RUN))
