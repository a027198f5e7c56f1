"""Compute the next due time of a maintenance job from its cadence and its window, exactly, across every clock change.

A window of a local day begins and ends at instants. A skipped local time means the first instant after the jump; a
repeated local time means the first of the two. A window that a jump skips completely shrinks to this instant.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import count
from math import ceil
from typing import Literal
from zoneinfo import ZoneInfo

Cadence = Literal["daily", "weekly", "interval"]
CADENCES: tuple[Cadence, ...] = ("daily", "weekly", "interval")

_DAY = timedelta(days=1)
_WEEK_DAYS = 7


class InvalidSchedule(ValueError):
    """A schedule that never yields a due time; the message names the error."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The times at which a job runs. Raises InvalidSchedule.

    interval_minutes: the interval of interval jobs. weekday: the weekday of weekly jobs, Monday is 0; None: a week
    after the last run. window_start, window_end: local times of `time_zone` (IANA); an end that is not after the start
    lies on the next day. Without a start the window begins at midnight, without an end it lasts until the next start.
    """

    cadence: str
    time_zone: str = "UTC"
    interval_minutes: int | None = None
    weekday: int | None = None
    window_start: time | None = None
    window_end: time | None = None

    def __post_init__(self) -> None:
        if self.cadence not in CADENCES:
            raise InvalidSchedule(f"cadence: {self.cadence!r} is not one of {', '.join(CADENCES)}")
        if (self.cadence == "interval") != (self.interval_minutes is not None):
            raise InvalidSchedule("interval_minutes is needed by the cadence interval, and by no other")
        if self.interval_minutes is not None and self.interval_minutes < 1:
            raise InvalidSchedule(f"interval_minutes: at least 1, not {self.interval_minutes}")
        if self.weekday is not None and not (self.cadence == "weekly" and 0 <= self.weekday < _WEEK_DAYS):
            raise InvalidSchedule("weekday: 0 (Monday) to 6 (Sunday), of weekly jobs alone")
        self.zone()

    def zone(self) -> ZoneInfo:
        """The `ZoneInfo` of its time zone."""
        try:
            return ZoneInfo(self.time_zone)
        except (ValueError, OSError, LookupError):
            raise InvalidSchedule(f"time_zone: {self.time_zone!r} is not an IANA time zone") from None


def compute_next_due(job: Schedule, after: datetime) -> datetime:
    """Return the next due time of `job` in UTC. It is always later than `after` (aware), the time of its last run or
    its planning.

    Daily and weekly jobs are due when a window begins; the result is the same for every `after` before this time.
    Interval jobs are due when the interval is over, or when the next window begins if the interval ends outside a
    window.
    """
    after = after.astimezone(UTC)
    if job.interval_minutes is not None:
        return _into_window(job, after + timedelta(minutes=job.interval_minutes))
    if job.cadence == "weekly" and job.weekday is None:
        return _window(job, _day_of(job, after) + _WEEK_DAYS * _DAY)[0]
    for day in _days(job, after):
        begins, _ = _window(job, day)
        if begins > after and (_exists(job, day) if job.weekday is None else day.weekday() == job.weekday):
            return begins
    raise AssertionError("days never end")


def is_beyond_a_period(job: Schedule, due: datetime, now: datetime) -> bool:
    """Return True if `due` is later than the second next due time, which means that the clock was set back."""
    return due > compute_next_due(job, compute_next_due(job, now))


def _into_window(job: Schedule, moment: datetime) -> datetime:
    if job.window_start is None and job.window_end is None:
        return moment
    for day in _days(job, moment):
        begins, ends = _window(job, day)
        if begins >= moment:
            return begins
        if moment < ends:
            return moment
    raise AssertionError("days never end")


def _window(job: Schedule, day: date) -> tuple[datetime, datetime]:
    """Return the instants at which the window of this local day begins and ends."""
    start = job.window_start or time()
    end = start if job.window_end is None else job.window_end
    ends_on = day if end > start else day + _DAY
    return _instant(day, start, job.zone()), _instant(ends_on, end, job.zone())


def _days(job: Schedule, moment: datetime) -> Iterator[date]:
    """Yield local days in order, from the first day whose window may contain this instant."""
    first = moment.astimezone(job.zone()).date() - _DAY
    return (first + number * _DAY for number in count())


def _day_of(job: Schedule, moment: datetime) -> date:
    """Return the local day of the latest window that has begun by this instant."""
    today = moment.astimezone(job.zone()).date()
    return next(day for back in count() if _window(job, day := today - back * _DAY)[0] <= moment)


def _exists(job: Schedule, day: date) -> bool:
    """Return True if the zone has such a day: a zone that crosses the date line skips one."""
    return _instant(day, time(), job.zone()) < _instant(day + _DAY, time(), job.zone())


def _instant(day: date, at: time, zone: ZoneInfo) -> datetime:
    """Return the first instant at which the local clock shows this time, or has jumped over it."""
    local = datetime.combine(day, at, tzinfo=zone)
    found = local.astimezone(UTC)
    if found.astimezone(zone).replace(tzinfo=None, fold=0) == local.replace(tzinfo=None):
        return found
    # With the offset after the jump, the result lies before the jump; with the offset before the jump, after it.
    before = local.replace(fold=1).astimezone(UTC).replace(microsecond=0)
    seconds = ceil((found - before).total_seconds())
    offset = before.astimezone(zone).utcoffset()

    def has_jumped(second: int) -> bool:
        return (before + timedelta(seconds=second)).astimezone(zone).utcoffset() != offset

    return before + timedelta(seconds=bisect_left(range(seconds + 1), True, key=has_jumped))
