"""Read the cost of models in this day and week (UTC), by tenant, and the tenants that reached a cap."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import get_args

from sqlalchemy import Connection, text

from slowwave.settings import Llm
from slowwave_server.services.reports.budget import Period, period_starts
from slowwave_server.services.reports.metrics import By

TENANTS = 10_000
ANY = "*"
PERIODS: tuple[Period, ...] = get_args(Period)

# Go from tenant to tenant by the key, and read only the tenant's own two rows, not those of agents and past days.
_USAGE = text(
    "WITH RECURSIVE payers AS ("
    " (SELECT u.tenant FROM slowwave.llm_usage u ORDER BY u.tenant LIMIT 1)"
    " UNION ALL SELECT (SELECT u.tenant FROM slowwave.llm_usage u WHERE u.tenant > p.tenant ORDER BY u.tenant LIMIT 1)"
    "  FROM payers p WHERE p.tenant IS NOT NULL)"
    " SELECT u.tenant, u.period, u.calls, u.failures, u.tokens_settled + u.tokens_reserved AS tokens"
    " FROM (SELECT tenant FROM payers WHERE tenant IS NOT NULL LIMIT :tenants) p"
    " JOIN slowwave.llm_usage u ON u.tenant = p.tenant AND u.agent = ''"
    "  AND (u.period = 'day' AND u.starts = :day OR u.period = 'week' AND u.starts = :week)"
    " ORDER BY u.tenant, u.period"
)


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of a tenant in a period. tokens: settled and reserved tokens."""

    tenant: str
    period: Period
    calls: int
    failures: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Budgets:
    """Figures of all tenants. budget_tokens_used: tokens by tenant, model and period."""

    budget_tokens_used: By
    budget_tokens_cap: By
    budget_spent_tenants: By
    budget_calls: By
    budget_calls_failed: By


def read_usage(connection: Connection, *, now: datetime) -> Sequence[Usage]:
    """Return the usage of each tenant in this day and week; the first TENANTS by name."""
    starts = period_starts(now)
    rows = connection.execute(_USAGE, {"day": starts["day"], "week": starts["week"], "tenants": TENANTS})
    return [Usage(*row) for row in rows]


def cap_of(caps: Llm, period: Period) -> int | None:
    """Return the cap of a tenant in a period, in tokens; None if no cap is set."""
    return (caps.daily_token_budget if period == "day" else caps.weekly_token_budget) or None


def is_spent(usage: Usage, caps: Llm) -> bool:
    """Return True if the cap lets no further call pass: each call reserves at least its longest answer."""
    cap = cap_of(caps, usage.period)
    return cap is not None and cap - usage.tokens < caps.max_output_tokens


def read_budgets(connection: Connection, caps: Llm, *, tenants: Collection[str], now: datetime) -> Budgets:
    """Read the figures. tenants: the tenants whose figures carry their name."""
    found = read_usage(connection, now=now)
    model = "none" if caps.driver == "none" else f"{caps.driver} {caps.model}".strip()
    used: dict[tuple[str, ...], float] = {}
    for period in PERIODS:
        its = {usage.tenant: usage.tokens for usage in found if usage.period == period}
        used[ANY, model, period] = max(its.values(), default=0)
        used |= {(tenant, model, period): its.get(tenant, 0) for tenant in tenants}
    limits = {period: cap_of(caps, period) for period in PERIODS}

    def total(of: str) -> By:
        return {(p,): sum(getattr(usage, of) for usage in found if usage.period == p) for p in PERIODS}

    return Budgets(
        budget_tokens_used=used,
        budget_tokens_cap={(model, period): cap for period, cap in limits.items() if cap is not None},
        budget_spent_tenants={(p,): sum(u.period == p and is_spent(u, caps) for u in found) for p in PERIODS},
        budget_calls=total("calls"),
        budget_calls_failed=total("failures"),
    )
