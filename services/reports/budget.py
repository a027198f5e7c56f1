"""Report the cost of model calls today and this week (UTC) by tenant and agent, and the reached caps."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Literal

from slowwave_server.models.driver import Reads, read_rows
from slowwave_server.services.lookup import find_agent

if TYPE_CHECKING:
    from slowwave.settings import Llm

Period = Literal["day", "week"]
_OUTCOMES = ("answered", "failed", "unanswered", "lost")
_PAYER = "tenant = %(tenant)s AND (CAST(%(agent)s AS text) IS NULL OR agent = %(agent)s)"
_RUNNING = (
    "SELECT count(*) AS calls, coalesce(sum(tokens_reserved), 0)::bigint AS tokens,"
    " count(*) FILTER (WHERE expires_at <= %(now)s) AS overdue"
    f" FROM slowwave.llm_calls WHERE {_PAYER} AND outcome IS NULL"
)
_AGENTS = (
    "SELECT agent FROM slowwave.llm_usage WHERE tenant = %(tenant)s AND agent <> '' AND period = 'week'"
    " AND starts = %(week)s ORDER BY tokens_settled + tokens_reserved DESC, agent LIMIT %(limit)s"
)
_USAGE = (
    "SELECT * FROM slowwave.llm_usage WHERE tenant = %(tenant)s AND agent = ANY(%(payers)s)"
    " AND (period = 'day' AND starts = %(day)s OR period = 'week' AND starts = %(week)s)"
)
_PURPOSES = (
    "SELECT purpose, count(*) AS calls, "
    + ", ".join(f"count(*) FILTER (WHERE outcome = '{name}') AS {name}" for name in _OUTCOMES)
    + ", coalesce(sum(tokens_settled), 0)::bigint AS tokens,"
    " coalesce(sum(tokens_settled) FILTER (WHERE NOT counted), 0)::bigint AS uncounted"
    f" FROM slowwave.llm_calls WHERE {_PAYER} AND reserved_at >= %(since)s"
    " GROUP BY purpose ORDER BY sum(tokens_settled) DESC NULLS LAST, purpose"
)
_SETTING: dict[tuple[bool, Period], str] = {
    (False, "day"): "daily_token_budget",
    (False, "week"): "weekly_token_budget",
    (True, "day"): "agent_daily_token_budget",
    (True, "week"): "agent_weekly_token_budget",
}


@dataclass(frozen=True, slots=True)
class Used:
    """The usage of one agent, or of the whole tenant (agent None), in one period.

    calls, failures: numbers of calls; all other numbers are tokens. reserved: the tokens of running calls. cap: the
    cap, or None. left: the remaining tokens, never below 0. reached: True if no further call fits, because each call
    reserves at least the tokens of its longest answer.
    """

    agent: str | None
    period: Period
    starts: date
    ends: datetime
    calls: int
    failures: int
    settled: int
    reserved: int
    setting: str
    cap: int | None
    left: int | None
    reached: bool


@dataclass(frozen=True, slots=True)
class UsedFor:
    """The cost of one purpose this week.

    failed: the number of unusable answers. unanswered: the number of failures of the endpoint. lost: the number of
    calls whose worker died. uncounted: the reserved tokens of calls whose real cost is unknown.
    """

    purpose: str
    calls: int
    answered: int
    failed: int
    unanswered: int
    lost: int
    tokens: int
    uncounted: int


@dataclass(frozen=True, slots=True)
class BudgetReport:
    """A budget report. used: the tenant's day and week, then those of its agents, the highest cost first. open_calls:
    the number of running calls, including those of a dead worker; overdue: the number of those that will count as lost.
    """

    tenant: str
    model: str | None
    used: tuple[Used, ...]
    purposes: tuple[UsedFor, ...]
    open_calls: int
    open_tokens: int
    overdue: int


def read_budget(
    connection: Reads, tenant: str, caps: "Llm", now: datetime, *, agent: str | None = None, limit: int = 50
) -> BudgetReport:
    """Read the budgets of a tenant and at most `limit` of its agents, or of one agent. Raises UnknownName."""
    if agent is not None:
        find_agent(connection, tenant, agent)
        agents: list[str] = [agent]
    else:
        agents = _agents(connection, tenant, now, limit)
    payer = {"tenant": tenant, "agent": agent}
    (running,) = read_rows(connection, _RUNNING, {**payer, "now": now})
    return BudgetReport(
        tenant=tenant,
        model=None if caps.driver == "none" else f"{caps.driver} {caps.model}".strip(),
        used=tuple(_used(connection, tenant, ["", *agents], caps, now)),
        purposes=_purposes(connection, payer, now),
        open_calls=running["calls"],
        open_tokens=running["tokens"],
        overdue=running["overdue"],
    )


def caps_reached(connection: Reads, tenant: str, caps: "Llm", now: datetime) -> tuple[Used, ...]:
    """List the reached caps, the tenant's first: of agents that made calls, with a model of all agents."""
    spread = caps.agent_daily_token_budget or caps.agent_weekly_token_budget
    agents = _agents(connection, tenant, now, 1000) if spread else []
    used = _used(connection, tenant, ["", *agents], caps, now)
    return tuple(line for line in used if line.reached and (line.calls or caps.driver != "none"))


def period_starts(now: datetime) -> dict[Period, date]:
    """Return the day and the Monday of the week to which a call at `now` is charged, in UTC."""
    day = now.astimezone(UTC).date()
    return {"day": day, "week": day - timedelta(days=day.weekday())}


def _agents(connection: Reads, tenant: str, now: datetime, limit: int) -> list[str]:
    """Return the agents with costs this week."""
    week = period_starts(now)["week"]
    return [row["agent"] for row in read_rows(connection, _AGENTS, {"tenant": tenant, "week": week, "limit": limit})]


def _used(connection: Reads, tenant: str, payers: list[str], caps: "Llm", now: datetime) -> Iterable[Used]:
    starts = period_starts(now)
    rows = read_rows(
        connection, _USAGE, {"tenant": tenant, "payers": payers, "day": starts["day"], "week": starts["week"]}
    )
    found: dict[tuple[str, str], Mapping[str, Any]] = {(row["agent"], row["period"]): row for row in rows}
    for payer in payers:
        for period, first in starts.items():
            row = found.get((payer, period), {})
            settled, reserved = int(row.get("tokens_settled", 0)), int(row.get("tokens_reserved", 0))
            setting = _SETTING[payer != "", period]
            cap = getattr(caps, setting) or None
            left = None if cap is None else max(0, cap - settled - reserved)
            yield Used(
                agent=payer or None,
                period=period,
                starts=first,
                ends=datetime.combine(first + timedelta(days=1 if period == "day" else 7), time(), UTC),
                calls=int(row.get("calls", 0)),
                failures=int(row.get("failures", 0)),
                settled=settled,
                reserved=reserved,
                setting=f"memory.llm.{setting}",
                cap=cap,
                left=left,
                reached=left is not None and left < caps.max_output_tokens,
            )


def _purposes(connection: Reads, payer: Mapping[str, Any], now: datetime) -> tuple[UsedFor, ...]:
    since = datetime.combine(period_starts(now)["week"], time(), UTC)
    return tuple(UsedFor(**row) for row in read_rows(connection, _PURPOSES, {**payer, "since": since}))


def reached_words(used: Used) -> str:
    """Return one sentence about a reached cap."""
    who = "" if used.agent is None else f" of {used.agent}"
    return (
        f"{used.setting}{who} is reached until {used.ends:%Y-%m-%d %H:%M} UTC: the rules extract instead of the model"
    )
