"""The cost of model calls: a row for each call, and counters per tenant and agent, day and week (I7).

These tables never hold the text of prompts or answers.
"""

from datetime import date
from uuid import UUID

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Date, Index, Integer, Text, Uuid, text
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, Moment


class LlmCall(Base):
    """One call, from its reservation on. outcome: NULL while it is under way.

    model: driver and model; prompt: the name and number of its text. tokens_reserved: an upper bound, set aside before
    the call; tokens_settled: what it cost. counted: whether the endpoint told that, else the whole reservation stands.
    run_id is a plain number: a run may be gone before its calls are, and a call never waits for a run's row. about: of
    calls without an answer, a digest of their subject (names and numbers); after repeated calls without an answer the
    subject is given up.
    """

    __tablename__ = "llm_calls"
    __table_args__ = (
        CheckConstraint("outcome IN ('answered', 'failed', 'unanswered', 'lost')", name="outcome"),
        CheckConstraint("(outcome IS NULL) = (tokens_settled IS NULL)", name="settled"),
        CheckConstraint("tokens_reserved >= 0 AND tokens_settled >= 0", name="tokens"),
        Index("llm_calls_tenant_idx", "tenant", "reserved_at"),
        Index("llm_calls_run_idx", "run_id", postgresql_where=text("run_id IS NOT NULL")),
        Index("llm_calls_open_idx", "tenant", "expires_at", postgresql_where=text("outcome IS NULL")),
        Index("llm_calls_about_idx", "tenant", "about", postgresql_where=text("about IS NOT NULL")),
    )

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    tenant: Mapped[str]
    agent: Mapped[str | None]
    run_id: Mapped[int | None] = mapped_column(BigInteger)
    purpose: Mapped[str]
    model: Mapped[str]
    prompt: Mapped[str]
    tokens_reserved: Mapped[int] = mapped_column(Integer)
    tokens_settled: Mapped[int | None] = mapped_column(Integer)
    counted: Mapped[bool] = mapped_column(Boolean, server_default=text("false"))
    outcome: Mapped[str | None]
    reserved_at: Mapped[Moment]
    expires_at: Mapped[Moment]
    settled_at: Mapped[Moment | None]
    about: Mapped[UUID | None] = mapped_column(Uuid)


class LlmUsage(Base):
    """The sums that caps are compared with. agent '': all of the tenant. starts: the day in UTC, or the week's Monday.

    A call counts for the day and week in which its tokens were reserved, whenever it ends.
    """

    __tablename__ = "llm_usage"
    __table_args__ = (
        CheckConstraint("period IN ('day', 'week')", name="period"),
        CheckConstraint("calls >= 0 AND failures >= 0 AND tokens_reserved >= 0 AND tokens_settled >= 0", name="counts"),
    )

    tenant: Mapped[str] = mapped_column(Text, primary_key=True)
    agent: Mapped[str] = mapped_column(Text, primary_key=True)
    period: Mapped[str] = mapped_column(Text, primary_key=True)
    starts: Mapped[date] = mapped_column(Date, primary_key=True)
    calls: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    failures: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    tokens_reserved: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    tokens_settled: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
