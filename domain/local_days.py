"""Compute local days: the day of an instant, and the bounds of a day, in every time zone and across every clock change.

A day begins at the first instant at which the local clock shows the cut-off hour. If a clock change skips this hour,
the day begins at the first later time. If the clock is set back, the day does not end: events in the second pass of an
hour belong to the day that has begun. So days are contiguous: no two days overlap, and every instant has a day. A day
that a zone skipped is empty; a day that a zone had twice is twice as long. `slowwave.local_day` in the database
implements the same rule.
"""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)


def local_day(at: datetime, zone: str, cutoff_hour: int) -> date:
    """Return the latest local day that began at or before `at`.

    at: an aware time in any zone. zone: an IANA name. cutoff_hour: 0..23, the hour at which a day begins. Raises
    ValueError for a naive time, `zoneinfo.ZoneInfoNotFoundError` for an unknown zone.
    """
    if at.tzinfo is None:
        raise ValueError("an instant needs its time zone")
    at = at.astimezone(UTC)
    tz = ZoneInfo(zone)
    day = (at.astimezone(tz).replace(tzinfo=None) - timedelta(hours=cutoff_hour)).date()
    # The clock may have shown the start of the next day before it was set back.
    while _begins(day + _DAY, tz, cutoff_hour) <= at:
        day += _DAY
    return day


def bounds_of(day: date, zone: str, cutoff_hour: int) -> tuple[datetime, datetime]:
    """Return [start, end) of a local day, aware, in UTC; start == end for a day that the zone skipped."""
    tz = ZoneInfo(zone)
    return _begins(day, tz, cutoff_hour), _begins(day + _DAY, tz, cutoff_hour)


def _begins(day: date, tz: ZoneInfo, cutoff_hour: int) -> datetime:
    """Return the first instant at which the local clock shows `day`'s cut-off hour or later."""
    wanted = datetime.combine(day, time(cutoff_hour))
    # If the clock shows the hour twice, fold=0 is the first time. If the clock skips it, fold=0 uses the offset
    # before the change and falls after it; fold=1 uses the later offset and falls before it: the change is in between.
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
