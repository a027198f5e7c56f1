"""Tables of vectors of memories and of raw events, each in the space of one embedding model.

A vector is an array of real numbers, NULL if the model refuses the text. Queries cast it to `vector`: the tables also
exist in databases without the extension.
"""

from datetime import date
from uuid import UUID

from sqlalchemy import (
    REAL,
    BigInteger,
    Date,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, CreatedAt


class VectorSpace(Base):
    """One embedding model, by driver and name. Vectors of two models are never compared.

    building: some vectors are missing, and another model serves; serving: searches use this model (only one at a
    time); retired: its vectors are being deleted.
    """

    __tablename__ = "vector_spaces"

    id: Mapped[BigId]
    model: Mapped[str]
    dimension: Mapped[int] = mapped_column(Integer)
    state: Mapped[str]
    created_at: Mapped[CreatedAt]


class MemoryVector(Base):
    """The vector of a memory that is not archived. content_hash, said_on: the memory's values when the vector was made.

    slowwave.create_vector_index creates the index together with the vector space, because the dimension is known
    only then.
    """

    __tablename__ = "memory_vectors"

    memory_id: Mapped[UUID] = mapped_column(
        Uuid, ForeignKey("slowwave.memories.id", ondelete="CASCADE"), primary_key=True
    )
    space_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("slowwave.vector_spaces.id", ondelete="CASCADE"), primary_key=True
    )
    scope_id: Mapped[int] = mapped_column(BigInteger)
    content_hash: Mapped[bytes] = mapped_column(LargeBinary)
    said_on: Mapped[date] = mapped_column(Date)
    embedding: Mapped[list[float] | None] = mapped_column(ARRAY(REAL))


class PassageVector(Base):
    """The vector of a passage, made from its redacted text, its heading and its speaker."""

    __tablename__ = "passage_vectors"
    __table_args__ = (
        ForeignKeyConstraint(
            ["session_id", "seq", "part"],
            ["slowwave.passages.session_id", "slowwave.passages.seq", "slowwave.passages.part"],
            ondelete="CASCADE",
        ),
    )

    session_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    part: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False, server_default=text("0"))
    space_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("slowwave.vector_spaces.id", ondelete="CASCADE"), primary_key=True
    )
    scope_id: Mapped[int] = mapped_column(BigInteger)
    embedding: Mapped[list[float] | None] = mapped_column(ARRAY(REAL))


class VectorProgress(Base):
    """How far a session's events have vectors in a space. Events never change, so one number is enough."""

    __tablename__ = "vector_progress"

    session_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("slowwave.sessions.id", ondelete="CASCADE"), primary_key=True
    )
    space_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("slowwave.vector_spaces.id", ondelete="CASCADE"), primary_key=True
    )
    until_seq: Mapped[int] = mapped_column(BigInteger)
