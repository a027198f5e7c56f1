"""Tables of memory outside Postgres: the outbox of other backends, the state of files, and sources read from files."""

from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Float,
    ForeignKey,
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
    """A backend besides Postgres, for which changes are queued. identity: the model of mem0's vectors."""

    __tablename__ = "memory_backends"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    since: Mapped[CreatedAt]
    identity: Mapped[str | None]


class OutboxItem(Base):
    """A change of a memory that a backend must receive. It waits while `delivered < changes`.

    A change during a delivery raises `changes`, so the memory is delivered again. The row has no foreign key to the
    memory, because deletions are delivered, too. A row of mem0 stays as long as mem0 may have a copy, even if mem0
    is no longer the backend. forgotten: a forget deleted the memory, and the row waits for the deletion of the
    copy.
    """

    __tablename__ = "outbox"

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
    """The state of a memory file at the last write or read; any difference from it is an edit by a person.

    digest: empty until the first write. modified_ns: the file system's time of the last change. writing: the digest of
    a write that has started; a file with this digest was written by Slowwave, even if the process died before it stored
    that. held: the reason why Slowwave skips the file until a person decides.
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
    """A memory's line in a file: a digest of the line, and the memory's revision, at the last write or read."""

    __tablename__ = "memory_file_lines"

    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_SCOPE), primary_key=True)
    path: Mapped[str] = mapped_column(Text, primary_key=True)
    memory_id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    revision: Mapped[int] = mapped_column(Integer)


class MemoryImport(Base):
    """The source of a memory in an imported file: one line. via: see MemorySource.

    digest: the digest of the line's statement and attributes, so that a second import changes nothing. sources:
    [[session, seq], …] as the line names them; these events need not exist here. holds_from, reaffirmed_at: the first
    and the last time at which it was said, if the line has them.
    """

    __tablename__ = "memory_imports"

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
