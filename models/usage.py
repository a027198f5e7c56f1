"""Tables of the cost of model calls: a row for each call, and counters per tenant and agent, day and week (I7).

These tables never hold the text of prompts or answers.
"""

from datetime import date
from uuid import UUID

from sqlalchemy import BigInteger, Boolean, Date, Integer, Text, Uuid, text
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, Moment


class LlmCall(Base):
    """One model call, stored when its tokens are reserved. outcome: NULL while the call is in progress.

    model: driver and model. prompt: name and version of the prompt. tokens_reserved: the highest possible number,
    reserved before the call; tokens_settled: the number that the call used. counted: true if the endpoint reported the
    tokens; otherwise the whole reservation counts. run_id: a number without a foreign key, because a run may be deleted
    before its calls, and a call must not wait for the run's row. about: for calls without an answer, a digest of their
    subject (names and numbers); after several such calls Slowwave stops asking about it.
    """

    __tablename__ = "llm_calls"

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
    """The sums with which caps are compared. agent: '' means all agents of the tenant.

    starts: the day in UTC, or the Monday of the week. A call counts in the day and the week in which its tokens
    were reserved.
    """

    __tablename__ = "llm_usage"

    tenant: Mapped[str] = mapped_column(Text, primary_key=True)
    agent: Mapped[str] = mapped_column(Text, primary_key=True)
    period: Mapped[str] = mapped_column(Text, primary_key=True)
    starts: Mapped[date] = mapped_column(Date, primary_key=True)
    calls: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    failures: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    tokens_reserved: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    tokens_settled: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
