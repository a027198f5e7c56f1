"""Tables of agents' local days: the progress of each, its summaries, and the segments of which they consist.

A day belongs to one agent and one scope: a room's day is never mixed with the agent's own (I8).
"""

from datetime import date
from typing import Any

from sqlalchemy import BigInteger, Boolean, Date, ForeignKey, Integer, SmallInteger, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, CreatedAt, Moment

_AGENT = "slowwave.agents.id"
_SCOPE = "slowwave.scopes.id"


class Day(Base):
    """The progress of the summary of an agent's day.

    The day's number of events is the sum of `session_days`, computed when it is read. `status` is only the last
    decision: if a final day has more events than `last_summarized_total`, it counts as open (I5). attempts, not_before,
    last_error: data of the attempts at the due summary; a failed day delays no other day.
    """

    __tablename__ = "days"

    agent_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_AGENT), primary_key=True)
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_SCOPE), primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    status: Mapped[str] = mapped_column(server_default=text("'open'"))
    version: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    last_summarized_total: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    summarized_at: Mapped[Moment | None]
    finalized_at: Mapped[Moment | None]
    attempts: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))
    not_before: Mapped[Moment | None]
    last_error: Mapped[str | None]


class DaySummary(Base):
    """One version of a day's summary. The highest version is valid; older ones are kept.

    messages: the number of events that the summary was made from. lines: [{facet, text, speaker, session, seq,
    at}]. run_id: the import that created it, if one did.
    """

    __tablename__ = "day_summaries"

    id: Mapped[BigId]
    agent_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_AGENT))
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_SCOPE))
    day: Mapped[date] = mapped_column(Date)
    version: Mapped[int] = mapped_column(Integer)
    final: Mapped[bool] = mapped_column(Boolean)
    messages: Mapped[int] = mapped_column(Integer)
    segments: Mapped[int] = mapped_column(Integer)
    text: Mapped[str]
    lines: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    made_by: Mapped[str]
    summarizer: Mapped[str]
    created_at: Mapped[CreatedAt]
    run_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("slowwave.maintenance_runs.id"))


class DaySegment(Base):
    """The stored summary lines of consecutive events of a session on one day.

    New events only follow the last segment, so a full segment is never summarized again. The last segment of a
    session is summarized again when it has grown.
    """

    __tablename__ = "day_segments"

    agent_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_AGENT), primary_key=True)
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_SCOPE), primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    session_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.sessions.id"), primary_key=True)
    from_seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    to_seq: Mapped[int] = mapped_column(BigInteger)
    messages: Mapped[int] = mapped_column(Integer)
    lines: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    summarizer: Mapped[str]
    made_at: Mapped[CreatedAt]
