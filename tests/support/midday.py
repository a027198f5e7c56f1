"""A time zone in which it is about noon when the tests begin: their today goes on for eleven hours, and never ends."""

import time as clock
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo


def zone_at_noon(now: datetime) -> str:
    """Return the zone of a fixed offset in which it is between 12:00 and 13:00."""
    return f"Etc/GMT{now.astimezone(UTC).hour - 12:+d}"


_NOW = datetime.now(UTC)
ZONE = zone_at_noon(_NOW)
TODAY = _NOW.astimezone(ZoneInfo(ZONE)).date()
YESTERDAY = TODAY - timedelta(days=1)


def at(day: date, hour: int = 0, minute: int = 0) -> datetime:
    """Return an instant of a day of the zone."""
    return datetime.combine(day, time(hour, minute), ZoneInfo(ZONE))


def wait_past_midnight(seconds: float = 30) -> None:
    """Wait for the next UTC day if it begins soon: for tests of what is counted by UTC days."""
    now = datetime.now(UTC)
    left = (datetime.combine(now.date() + timedelta(days=1), time(), UTC) - now).total_seconds()
    if left < seconds:
        clock.sleep(left)
