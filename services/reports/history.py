"""Read the figures of a tenant over time, in steps of equal length, for charts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import Connection, text

Range = Literal["hour", "hours", "week", "quarter"]
RANGES: Mapping[Range, tuple[timedelta, timedelta]] = {
    "hour": (timedelta(hours=1), timedelta(minutes=1)),
    "hours": (timedelta(hours=24), timedelta(minutes=5)),
    "week": (timedelta(days=7), timedelta(hours=1)),
    "quarter": (timedelta(days=90), timedelta(hours=8)),
}
"""How far back each range looks, and its step."""

_READ = text(
    "SELECT date_bin(CAST(:step AS interval), s.taken_at - interval '1 microsecond', CAST(:start AS timestamptz)),"
    " max(s.sessions_waiting), max(s.events_waiting), max(s.inbox_open), max(s.lag_p50_seconds),"
    " max(s.lag_p95_seconds), sum(s.events), sum(s.decisions), sum(s.tokens), sum(s.failures)"
    " FROM slowwave.status_samples s WHERE s.tenant = :tenant AND s.taken_at > :start AND s.taken_at <= :end"
    " GROUP BY 1 ORDER BY 1"
)


@dataclass(frozen=True, slots=True)
class Step:
    """The figures of one step. starts: the time at which it begins; all other fields are None if no sample was taken in
    it.

    sessions_waiting, events_waiting, inbox_open and lags: the highest values in the step. events (flushed), decisions,
    tokens and failures: sums.
    """

    starts: datetime
    sessions_waiting: int | None = None
    events_waiting: int | None = None
    inbox_open: int | None = None
    lag_p50_seconds: float | None = None
    lag_p95_seconds: float | None = None
    events: int | None = None
    decisions: int | None = None
    tokens: int | None = None
    failures: int | None = None


def read_history(connection: Connection, tenant: str, now: datetime, *, over: Range = "hours") -> list[Step]:
    """Read every step of a range, oldest first, including steps without a sample."""
    length, step = RANGES[over]
    end = _ceiling(now, step)
    start = end - length
    values = {"step": step, "start": start, "end": end, "tenant": tenant}
    found = {row[0]: row for row in connection.execute(_READ, values)}
    moments = [start + step * place for place in range(length // step)]
    return [_step(*found[moment]) if moment in found else Step(moment) for moment in moments]


def _step(starts: datetime, *figures: float | None) -> Step:
    waiting, events_waiting, inbox, p50, p95, *sums = figures
    events, decisions, tokens, failures = map(_whole, sums)
    return Step(
        starts, _whole(waiting), _whole(events_waiting), _whole(inbox), p50, p95, events, decisions, tokens, failures
    )


def _whole(figure: float | None) -> int | None:
    return None if figure is None else int(figure)


def _ceiling(moment: datetime, step: timedelta) -> datetime:
    """Return the next multiple of the step since the epoch."""
    seconds, length = moment.timestamp(), step.total_seconds()
    return datetime.fromtimestamp(-(-seconds // length) * length, moment.tzinfo)
