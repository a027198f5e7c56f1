"""Local days: which day an instant belongs to, and from when to when a day goes, whatever a time zone did.

A day begins at the first instant at which the local clock shows the cut-off hour or, where a change of the clock skips
that hour, a later time. It does not end because the clock is put back: what comes in an hour's second pass is of the
day that has begun. So days are contiguous: none overlaps the next, no instant is without one. A day that a zone skipped
is empty; one that a zone lived through twice is twice as long. `slowwave.local_day` in the database says the same.

Must not know: the clock (instants are arguments), which zone an agent lives in, what happens on a day.
"""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)


def local_day(at: datetime, zone: str, cutoff_hour: int) -> date:
    """The local day that began last before or at `at`.

    at: aware, in any zone. zone: an IANA name. cutoff_hour: 0..23, the hour at which a day begins.
    Raises ValueError for a naive time, `zoneinfo.ZoneInfoNotFoundError` for an unknown zone.
    """
    if at.tzinfo is None:
        raise ValueError("an instant needs its time zone")
    at = at.astimezone(UTC)
    tz = ZoneInfo(zone)
    day = (at.astimezone(tz).replace(tzinfo=None) - timedelta(hours=cutoff_hour)).date()
    # The clock may have shown the next day's beginning before it was put back.
    while _begins(day + _DAY, tz, cutoff_hour) <= at:
        day += _DAY
    return day


def bounds_of(day: date, zone: str, cutoff_hour: int) -> tuple[datetime, datetime]:
    """[start, end) of a local day, aware, in UTC; start == end for a day that the zone skipped."""
    tz = ZoneInfo(zone)
    return _begins(day, tz, cutoff_hour), _begins(day + _DAY, tz, cutoff_hour)


def _begins(day: date, tz: ZoneInfo, cutoff_hour: int) -> datetime:
    """The first instant at which the local clock shows `day`'s cut-off hour or later."""
    wanted = datetime.combine(day, time(cutoff_hour))
    # Where the clock shows it twice, fold=0 is the first time. Where it never does, fold=0 reckons with the offset
    # before the change and lands behind it; fold=1, with the one after, lands before it: the change is in between.
    after, before = (wanted.replace(tzinfo=tz, fold=fold).astimezone(UTC) for fold in (0, 1))
    if after <= before:
        return after
    low, high = int(before.timestamp()), int(after.timestamp())  # zones change at whole seconds
    while high - low > 1:
        middle = (low + high) // 2
        if datetime.fromtimestamp(middle, tz).replace(tzinfo=None) >= wanted:
            high = middle
        else:
            low = middle
    return datetime.fromtimestamp(high, UTC)
