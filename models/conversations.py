"""Tables of sessions, their events, and the number of events on each of their days."""

from datetime import date

from sqlalchemy import (
    BigInteger,
    Boolean,
    Date,
    ForeignKey,
    Integer,
    SmallInteger,
    Text,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, CreatedAt, Json, Moment


class Session(Base):
    """One conversation of an agent. It is dirty while `last_seq > processed_until`.

    The sweep reads only `flush_due_at`; NULL means that all events are processed. It is computed from
    `invalidated_at` (the last event when a flush was requested), `dirty_since` (arrival of the oldest unprocessed
    event), `last_seen_at`, `boosted_at` and `not_before` (the end of a back-off).
    """

    __tablename__ = "sessions"

    id: Mapped[BigId]
    agent_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.agents.id"))
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.scopes.id"))
    name: Mapped[str]
    room_id: Mapped[str | None]
    thread_id: Mapped[str | None]
    source: Mapped[str] = mapped_column(Text, server_default=text("'events'"))
    last_seq: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    last_turn: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    processed_until: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    processed_turn: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    invalidated_at: Mapped[int | None] = mapped_column(BigInteger)
    invalidated_by: Mapped[str | None]
    dirty_since: Mapped[Moment | None]
    last_seen_at: Mapped[Moment]
    flush_due_at: Mapped[Moment | None]
    boosted_at: Mapped[Moment | None]
    attempts: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))
    failures: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))
    window_limit: Mapped[int | None] = mapped_column(SmallInteger)
    not_before: Mapped[Moment | None]
    last_error: Mapped[str | None]
    # The run that imported the conversation, and the last event that it imported; later events were recorded since.
    import_run: Mapped[int | None] = mapped_column(BigInteger)
    import_seq: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[CreatedAt]


class Event(Base):
    """One event of a session. happened_at: the time at which it was said; recorded_at: the time at which it arrived."""

    __tablename__ = "events"

    # No foreign key: the only writer holds the lock of the session's row, and the check took a sixth of the time of a
    # capture.
    session_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    turn: Mapped[int] = mapped_column(Integer)
    kind: Mapped[str]
    role: Mapped[str]
    name: Mapped[str | None]
    content: Mapped[str]
    happened_at: Mapped[Moment]
    recorded_at: Mapped[Moment]
    day: Mapped[date] = mapped_column(Date)
    key: Mapped[str | None]
    event_metadata: Mapped[Json | None] = mapped_column("metadata")
    quarantined_at: Mapped[Moment | None]


class SessionDay(Base):
    """The number of a session's events on one local day of its agent.

    A reader adds up the rows of a day, because with one counter per agent and day, the commits of an agent's sessions
    would wait for each other. from_seq, to_seq: the first and the last event; events of other days may be between them.
    summarized: the number of events in the newest summary; removed: the number that retention deleted since then.
    pending: true if the day has more events than these. look_at: before this time, no summary is due without new
    events; a past time before the first check.
    """

    __tablename__ = "session_days"

    session_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.sessions.id"), primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    agent_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.agents.id"))
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.scopes.id"))
    total_messages: Mapped[int] = mapped_column(Integer)
    from_seq: Mapped[int] = mapped_column(BigInteger)
    to_seq: Mapped[int] = mapped_column(BigInteger)
    summarized: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    removed: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    pending: Mapped[bool] = mapped_column(Boolean, server_default=text("true"))
    look_at: Mapped[Moment] = mapped_column(server_default=text("'1970-01-01 00:00:00+00'"))
