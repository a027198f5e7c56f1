"""Tables of the ledger of flushes, and of dead letters."""

from sqlalchemy import BigInteger, ForeignKey, Integer, SmallInteger, text
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, CreatedAt, Json, Moment


class Flush(Base):
    """One committed window of a session: the ledger of flushes.

    (session, from_seq) is unique, so an event is in only one window (I2). oldest_recorded_at: the time at which the
    window's oldest event arrived; the lag of the flush is committed_at minus this time. tokens: the number of tokens
    that a model used. fallback: the reason why another extractor than the configured one read the window; fallback_why:
    the reached cap, or the error. dropped: the number of memories in a model's answer that failed a check, by reason.
    """

    __tablename__ = "flushes"

    id: Mapped[BigId]
    session_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.sessions.id"))
    from_seq: Mapped[int] = mapped_column(BigInteger)
    to_seq: Mapped[int] = mapped_column(BigInteger)
    outcome: Mapped[str]
    extractor: Mapped[str]
    extractor_version: Mapped[str]
    attempt: Mapped[int] = mapped_column(SmallInteger)
    candidates: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    stored: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    repeated: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    noise: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    redactions: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    tokens: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    fallback: Mapped[str | None]
    fallback_why: Mapped[str | None]
    dropped: Mapped[Json | None]
    error: Mapped[str | None]
    oldest_recorded_at: Mapped[Moment]
    started_at: Mapped[Moment]
    committed_at: Mapped[Moment]


class DeadLetter(Base):
    """A message that no task could accept, with its payload and the error, until a person retries or dismisses it."""

    __tablename__ = "dead_letters"

    id: Mapped[BigId]
    tenant: Mapped[str | None]
    task: Mapped[str]
    payload: Mapped[Json]
    error: Mapped[str]
    state: Mapped[str] = mapped_column(server_default=text("'open'"))
    created_at: Mapped[CreatedAt]
    decided_at: Mapped[Moment | None]
