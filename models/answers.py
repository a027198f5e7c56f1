"""The table of a model's answers about windows until their commit, so that each is paid once."""

from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, LargeBinary, Uuid
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, Moment

_SESSION = "slowwave.sessions.id"


class WindowAnswer(Base):
    """A model call about the next window of a session, and its answer. answer: NULL until the model has answered.

    digest: a digest of the window's text, the prompt's version and the model. known: the memories in the prompt beside
    the window, in order, because the answer cites them by number. owner: the worker that asked; from expires_at on, it
    counts as dead. The commit of the window deletes the row. A forget in the session's scope deletes it, too, and
    retention deletes it after a day.
    """

    __tablename__ = "window_answers"

    session_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey(_SESSION, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    from_seq: Mapped[int] = mapped_column(BigInteger)
    to_seq: Mapped[int] = mapped_column(BigInteger)
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    owner: Mapped[UUID] = mapped_column(Uuid)
    known: Mapped[dict[str, Any]] = mapped_column(JSONB)
    answer: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    asked_at: Mapped[Moment]
    expires_at: Mapped[Moment]
    answered_at: Mapped[Moment | None]
