"""Local days over every change of ten hard zones: contiguous, without overlap, whatever the cut-off hour."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slowwave_server.domain.local_days import bounds_of, local_day
from tests.support.zones import HARD_ZONES, changes

CUTOFFS = (0, 1, 2, 3, 4, 5, 23)


def utc(year: int, month: int, day: int, hour: int = 0) -> datetime:
    return datetime(year, month, day, hour, tzinfo=UTC)


def furthest(at: int, tz: ZoneInfo, turned: tuple[int, ...]) -> datetime:
    """The latest that a local clock had shown by then, to the second: what decides which day it is, in plain words."""
    shown = [at, *(turn - 1 for turn in turned if at - 2 * 86_400 < turn <= at)]
    return max(datetime.fromtimestamp(second, tz).replace(tzinfo=None) for second in shown)


@pytest.mark.parametrize("zone", HARD_ZONES)
def test_mistake_35_days_around_every_change_of_the_clock_are_exact(zone: str) -> None:
    turned = changes(zone, 1970, 2038)
    assert len(turned) > 10
    tz = ZoneInfo(zone)
    for index, turn in enumerate(turned):
        cutoff = CUTOFFS[index % len(CUTOFFS)]
        for cutoff_hour in {0, cutoff}:
            for away in (-86_400, -1, 0, 1799, 1800, 3599, 3600, 7200, 86_399, 86_400):
                at = datetime.fromtimestamp(turn + away, UTC)
                day = local_day(at, zone, cutoff_hour)
                assert day == (furthest(turn + away, tz, turned) - timedelta(hours=cutoff_hour)).date(), (at, zone)
                start, end = bounds_of(day, zone, cutoff_hour)
                assert start <= at < end


@pytest.mark.parametrize("cutoff_hour", CUTOFFS)
@pytest.mark.parametrize("zone", HARD_ZONES)
def test_i5_days_around_changes_touch_and_do_not_overlap(zone: str, cutoff_hour: int) -> None:
    for turn in changes(zone, 1970, 2038)[::3]:
        middle = datetime.fromtimestamp(turn, UTC).date()
        days = [middle + timedelta(days=n) for n in range(-2, 4)]
        bounds = [bounds_of(day, zone, cutoff_hour) for day in days]
        for day, (start, end), following in zip(days, bounds, [*bounds[1:], None], strict=True):
            assert start <= end
            assert following is None or end == following[0]
            if start < end:
                assert local_day(start, zone, cutoff_hour) == day
                assert local_day(end - timedelta(microseconds=1), zone, cutoff_hour) == day


@given(
    seconds=st.integers(-2_208_988_800, 4_102_444_800),
    later=st.timedeltas(timedelta(0), timedelta(days=3)),
    zone=st.sampled_from(HARD_ZONES),
    cutoff_hour=st.integers(0, 23),
)
@example(seconds=int(utc(2011, 12, 30, 9).timestamp()), later=timedelta(minutes=1), zone="Pacific/Apia", cutoff_hour=0)
def test_time_never_goes_back_a_day(seconds: int, later: timedelta, zone: str, cutoff_hour: int) -> None:
    first = datetime.fromtimestamp(seconds, UTC)
    day = local_day(first, zone, cutoff_hour)
    start, end = bounds_of(day, zone, cutoff_hour)
    assert start <= first < end
    assert local_day(first + later, zone, cutoff_hour) >= day


def test_a_day_that_is_put_back_an_hour_is_longer_and_one_that_is_put_forward_shorter() -> None:
    start, end = bounds_of(date(2023, 10, 29), "Europe/Berlin", 0)
    assert end - start == timedelta(hours=25)
    start, end = bounds_of(date(2023, 3, 26), "Europe/Berlin", 3)
    assert (start, end - start) == (utc(2023, 3, 26, 1), timedelta(hours=24))
    start, end = bounds_of(date(2023, 3, 25), "Europe/Berlin", 3)
    assert end - start == timedelta(hours=23)


def test_the_second_pass_of_midnight_is_still_of_the_new_day() -> None:
    """Havana's clocks show 00:30 twice; the first time a day has begun, and it does not end again."""
    first = datetime(2019, 11, 3, 0, 30, tzinfo=ZoneInfo("America/Havana"))
    assert local_day(first, "America/Havana", 0) == date(2019, 11, 3)
    assert local_day(first.replace(fold=1), "America/Havana", 0) == date(2019, 11, 3)
    # St John's went back from 00:01 to 23:01 of the day before.
    late = datetime(2010, 11, 7, 2, 31, 30, tzinfo=UTC)
    assert late.astimezone(ZoneInfo("America/St_Johns")).day == 6
    assert local_day(late, "America/St_Johns", 0) == date(2010, 11, 7)


def test_a_day_that_a_zone_left_out_is_empty_and_nothing_falls_on_it() -> None:
    start, end = bounds_of(date(2011, 12, 30), "Pacific/Apia", 0)
    assert start == end == utc(2011, 12, 30, 10)
    assert local_day(start, "Pacific/Apia", 0) == date(2011, 12, 31)


def test_a_night_belongs_to_the_day_before_its_cutoff_hour() -> None:
    at = datetime(2024, 5, 10, 3, 59, tzinfo=ZoneInfo("Asia/Tokyo"))
    assert local_day(at, "Asia/Tokyo", 4) == date(2024, 5, 9)
    assert local_day(at + timedelta(minutes=1), "Asia/Tokyo", 4) == date(2024, 5, 10)


def test_naive_times_and_unknown_zones_are_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        local_day(utc(2024, 1, 1).replace(tzinfo=None), "UTC", 0)
    with pytest.raises(ZoneInfoNotFoundError):
        local_day(utc(2024, 1, 1), "Europe/Atlantis", 0)
