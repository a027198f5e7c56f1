"""Tables of another extractor's results for the stored events, beside the live memories until they are switched."""

from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Boolean, Float, ForeignKey, Uuid, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, Json, Moment

_SESSION = "slowwave.sessions.id"
_RUN = "slowwave.maintenance_runs.id"


class Rebuild(Base):
    """One rebuild of an agent's memories. An agent has at most one that is not switched; a second call continues it.

    run_id: the run of the switch; NULL before it.
    """

    __tablename__ = "rebuilds"

    id: Mapped[BigId]
    agent_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.agents.id", ondelete="CASCADE"))
    extractor: Mapped[str]
    extractor_version: Mapped[str]
    only_fallback: Mapped[bool] = mapped_column(Boolean)
    state: Mapped[str] = mapped_column(server_default=text("'staging'"))
    started_at: Mapped[Moment]
    started_by: Mapped[str | None]
    run_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey(_RUN, ondelete="SET NULL"))


class RebuildWindow(Base):
    """A rebuild's result for one window. candidates: the candidates as a flush would store them; empty after the
    switch.

    tokens: the number of tokens that a model used. dropped: the number of memories in its answer that failed a check,
    by reason. was: after the switch, the ledger's former content, for an undo.
    """

    __tablename__ = "rebuild_windows"

    rebuild_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("slowwave.rebuilds.id", ondelete="CASCADE"), primary_key=True
    )
    session_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_SESSION, ondelete="CASCADE"), primary_key=True)
    from_seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    to_seq: Mapped[int] = mapped_column(BigInteger)
    candidates: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    extractor: Mapped[str]
    extractor_version: Mapped[str]
    tokens: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    dropped: Mapped[Json | None]
    made_at: Mapped[Moment]
    was: Mapped[Json | None]


class RebuildEvidence(Base):
    """A source that a rebuild's switch removed (`before`) or added (not `before`), so that an undo can restore it."""

    __tablename__ = "rebuild_evidence"

    run_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_RUN, ondelete="CASCADE"), primary_key=True)
    memory_id: Mapped[UUID] = mapped_column(
        Uuid, ForeignKey("slowwave.memories.id", ondelete="CASCADE"), primary_key=True
    )
    session_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_SESSION, ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    before: Mapped[bool] = mapped_column(Boolean, primary_key=True)
    confidence: Mapped[float] = mapped_column(Float)
    importance: Mapped[float] = mapped_column(Float)
    trust: Mapped[str]
    holds_from: Mapped[Moment]
