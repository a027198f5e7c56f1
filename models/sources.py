"""Conversations that another program keeps (`memory.source`), and the state of each of their known runs."""

from sqlalchemy import BigInteger, ForeignKey, SmallInteger, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, Moment


class SourceRun(Base):
    """One run of Agno (a prompt and its results) that a hook has named; workers read only such runs.

    asked_at: the time at which a hook last named it. due_at: the time of its next read; NULL if it is done. looks: the
    number of consecutive reads without it; missing_since: the time at which Agno's store first answered without it.
    taken: the keys of its recorded messages, which stay after the events are deleted.
    """

    __tablename__ = "source_runs"

    session_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("slowwave.sessions.id", ondelete="CASCADE"), primary_key=True
    )
    run_id: Mapped[str] = mapped_column(Text, primary_key=True)
    asked_at: Mapped[Moment]
    due_at: Mapped[Moment | None]
    looks: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))
    missing_since: Mapped[Moment | None]
    outcome: Mapped[str | None]
    taken: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    last_error: Mapped[str | None]
