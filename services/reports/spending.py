"""Report the cost of models over the last days, by model; `budget` has only the remaining tokens.

Days and weeks are in UTC, as for caps. Calls are stored for 90 days, sums for as long as the tenant exists.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlalchemy import Connection, Row, func, select

from slowwave_server.models import LlmCall, LlmUsage
from slowwave_server.services.lookup import find_agent

DAYS = 28


@dataclass(frozen=True, slots=True)
class DaySpent:
    """The cost of one day. tokens: the number of tokens of ended calls, plus the reserved tokens of running calls."""

    day: date
    calls: int
    failures: int
    tokens: int


@dataclass(frozen=True, slots=True)
class ModelSpent:
    """The cost of one model today, this week and over all days of the report. calls, tokens_…: numbers for settled
    calls only.

    model: driver and model. purposes: the purposes of its calls.
    """

    model: str
    calls: int
    tokens: int
    tokens_today: int
    tokens_week: int
    purposes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spending:
    """A report. days: every day until today, with those without a call; models: the highest cost first."""

    days: tuple[DaySpent, ...]
    models: tuple[ModelSpent, ...]


def read_spending(
    connection: Connection, tenant: str, now: datetime, *, agent: str | None = None, days: int = DAYS
) -> Spending:
    """Read the cost for a tenant, or one of its agents, over this number of days until today. Raises UnknownName."""
    if agent is not None:
        find_agent(connection, tenant, agent)
    today = now.astimezone(UTC).date()
    first = today - timedelta(days=days - 1)
    return Spending(_days(connection, tenant, agent, first, today), _models(connection, tenant, agent, first, today))


def _days(connection: Connection, tenant: str, agent: str | None, first: date, today: date) -> tuple[DaySpent, ...]:
    tokens = LlmUsage.tokens_settled + LlmUsage.tokens_reserved
    query = select(LlmUsage.starts, LlmUsage.calls, LlmUsage.failures, tokens.label("tokens")).where(
        LlmUsage.tenant == tenant,
        LlmUsage.agent == (agent or ""),
        LlmUsage.period == "day",
        LlmUsage.starts.between(first, today),
    )
    found = {row.starts: DaySpent(*row) for row in connection.execute(query)}
    every = (first + timedelta(days=n) for n in range((today - first).days + 1))
    return tuple(found.get(day, DaySpent(day, 0, 0, 0)) for day in every)


def _models(connection: Connection, tenant: str, agent: str | None, first: date, today: date) -> tuple[ModelSpent, ...]:
    def since(day: date) -> datetime:
        return datetime.combine(day, time(), UTC)

    tokens = func.sum(LlmCall.tokens_settled)
    week = today - timedelta(days=today.weekday())
    query = (
        select(
            LlmCall.model,
            LlmCall.purpose,
            func.count().label("calls"),
            func.coalesce(tokens, 0).label("tokens"),
            func.coalesce(tokens.filter(LlmCall.reserved_at >= since(today)), 0).label("today"),
            func.coalesce(tokens.filter(LlmCall.reserved_at >= since(week)), 0).label("week"),
        )
        .where(LlmCall.tenant == tenant, LlmCall.reserved_at >= since(min(first, week)), LlmCall.outcome.is_not(None))
        .group_by(LlmCall.model, LlmCall.purpose)
    )
    if agent is not None:
        query = query.where(LlmCall.agent == agent)
    found: dict[str, list[Row[*tuple[Any, ...]]]] = defaultdict(list)
    for row in connection.execute(query):
        found[row.model].append(row)
    models = (_model(model, rows) for model, rows in found.items())
    return tuple(sorted(models, key=lambda spent: (-spent.tokens, spent.model)))


def _model(model: str, rows: Sequence[Row[*tuple[Any, ...]]]) -> ModelSpent:
    """Add the costs of one model for all purposes."""
    return ModelSpent(
        model=model,
        calls=sum(row.calls for row in rows),
        tokens=int(sum(row.tokens for row in rows)),
        tokens_today=int(sum(row.today for row in rows)),
        tokens_week=int(sum(row.week for row in rows)),
        purposes=tuple(sorted(row.purpose for row in rows)),
    )
