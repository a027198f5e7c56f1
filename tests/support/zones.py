"""Ten zones whose clocks were changed in hard ways, and when they were: what tests of local days are made of."""

from datetime import UTC, datetime
from functools import cache
from zoneinfo import ZoneInfo

HARD_ZONES = (
    "America/New_York",
    "America/St_Johns",  # changed at a minute past midnight for years
    "America/Sao_Paulo",  # midnights that never were
    "America/Havana",  # back from 01:00 to midnight
    "Europe/Berlin",
    "Africa/Casablanca",  # back for a month each year
    "Asia/Beirut",
    "Asia/Tehran",
    "Australia/Lord_Howe",  # by half an hour
    "Pacific/Apia",  # one day was left out
)
_STEP = 6 * 3600


@cache
def changes(zone: str, first_year: int = 1970, last_year: int = 2020) -> tuple[int, ...]:
    """The instants (seconds since the epoch) at which a zone's offset changed, found by halving what lies between."""
    tz = ZoneInfo(zone)
    found: list[int] = []
    begin = int(datetime(first_year, 1, 1, tzinfo=UTC).timestamp())
    end = int(datetime(last_year, 1, 1, tzinfo=UTC).timestamp())
    before = datetime.fromtimestamp(begin, tz).utcoffset()
    for at in range(begin + _STEP, end, _STEP):
        offset = datetime.fromtimestamp(at, tz).utcoffset()
        if offset != before:
            low, high = at - _STEP, at
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (
                    (middle, high) if datetime.fromtimestamp(middle, tz).utcoffset() == before else (low, middle)
                )
            found.append(high)
            before = offset
    return tuple(found)
