"""Read recent flushes and their latency after the events from the ledger, so that the figures survive restarts."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, func, select

from slowwave_server.models import Flush
from slowwave_server.services.reports.metrics import By
from slowwave_server.services.reports.status import FALLBACKS, FLUSHES_READ, OUTCOMES

RECENT = timedelta(minutes=5)
QUANTILES = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Flushes:
    """Windows of all tenants that were committed recently; without such windows, quantiles are missing."""

    recent_flushes: By
    recent_flush_lag_seconds: By
    recent_flush_seconds: By
    recent_flushes_retried: int
    recent_left_to_rules: By


def read_flushes(connection: Connection, *, now: datetime) -> Flushes:
    """Read the flushes, at most the newest FLUSHES_READ."""
    recent = (
        select(
            Flush.outcome,
            Flush.fallback,
            Flush.attempt,
            func.extract("epoch", Flush.committed_at - Flush.oldest_recorded_at).label("lag"),
            func.extract("epoch", Flush.committed_at - Flush.started_at).label("took"),
        )
        .where(Flush.committed_at > now - RECENT)
        .order_by(Flush.committed_at.desc())
        .limit(FLUSHES_READ)
        .subquery()
    )
    row = (
        connection.execute(
            select(
                *(func.count().filter(recent.c.outcome == outcome).label(outcome) for outcome in OUTCOMES),
                *(func.count().filter(recent.c.fallback == why).label(why) for why in FALLBACKS),
                func.count().filter(recent.c.attempt > 1).label("retried"),
                func.percentile_cont(list(QUANTILES)).within_group(recent.c.lag).label("lags"),
                func.percentile_cont(list(QUANTILES)).within_group(recent.c.took).label("times"),
            )
        )
        .mappings()
        .one()
    )
    return Flushes(
        recent_flushes={(outcome,): row[outcome] for outcome in OUTCOMES},
        recent_flush_lag_seconds=_quantiles(row["lags"]),
        recent_flush_seconds=_quantiles(row["times"]),
        recent_flushes_retried=row["retried"],
        recent_left_to_rules={(why,): row[why] for why in FALLBACKS},
    )


def _quantiles(found: list[float] | None) -> By:
    # A clock that was set back must not make a time negative.
    return {(str(share),): max(0.0, value) for share, value in zip(QUANTILES, found or (), strict=False)}
