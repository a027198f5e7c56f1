"""The table of each tenant's figures over time, for charts."""

from sqlalchemy import BigInteger, Boolean, Float, Integer, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, Moment


class StatusSample(Base):
    """The figures of one tenant at `taken_at`, for the console's charts. hourly: the row covers an hour, not a minute.

    events, decisions, tokens, failures: sums over the `seconds` before taken_at. All other columns are values at
    taken_at; in an hourly row, the highest values of the hour. lag_p50_seconds, lag_p95_seconds:
    percentiles of the seconds from the arrival of a window's oldest event to the commit of its memories.
    """

    __tablename__ = "status_samples"

    tenant: Mapped[str] = mapped_column(Text, primary_key=True, server_default=text("slowwave.current_tenant()"))
    taken_at: Mapped[Moment] = mapped_column(primary_key=True)
    hourly: Mapped[bool] = mapped_column(Boolean, server_default=text("false"))
    seconds: Mapped[int] = mapped_column(Integer)
    sessions_waiting: Mapped[int] = mapped_column(Integer)
    events_waiting: Mapped[int] = mapped_column(BigInteger)
    inbox_open: Mapped[int] = mapped_column(Integer)
    lag_p50_seconds: Mapped[float | None] = mapped_column(Float)
    lag_p95_seconds: Mapped[float | None] = mapped_column(Float)
    events: Mapped[int] = mapped_column(BigInteger)
    decisions: Mapped[int] = mapped_column(BigInteger)
    tokens: Mapped[int] = mapped_column(BigInteger)
    failures: Mapped[int] = mapped_column(BigInteger)
