"""When jobs are due: exact over clock changes, and over whatever time a tick comes."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from slowwave_server.domain.schedule import InvalidSchedule, Schedule, compute_next_due, is_beyond_a_period

# Half-hour and 45-minute offsets, half-hour jumps, jumps at midnight, a day that was left out, jumps before 1970.
ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/Sao_Paulo",
    "America/St_Johns",
    "America/Nuuk",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "Asia/Beirut",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Kwajalein",
    "Pacific/Chatham",
    "Antarctica/Troll",
)
BERLIN = "Europe/Berlin"

zones = st.sampled_from(ZONES)
moments = st.integers(0, 80 * 366 * 1440).map(
    lambda minutes: datetime(1975, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)
times = st.builds(time, st.integers(0, 23), st.sampled_from((0, 1, 15, 30, 45, 59)))
optional_times = st.none() | times


def next_change(zone: ZoneInfo, moment: datetime) -> datetime:
    """A moment at which the zone's offset has just changed, within two years; else the end of them."""
    for _ in range(2 * 366):
        later = moment + timedelta(days=1)
        if later.astimezone(zone).utcoffset() != moment.astimezone(zone).utcoffset():
            return later
        moment = later
    return moment


@st.composite
def schedules(draw: st.DrawFn, cadences: tuple[str, ...] = ("daily", "weekly", "interval")) -> Schedule:
    cadence = draw(st.sampled_from(cadences))
    return Schedule(
        cadence=cadence,
        time_zone=draw(zones),
        interval_minutes=draw(st.integers(1, 4000)) if cadence == "interval" else None,
        weekday=draw(st.none() | st.integers(0, 6)) if cadence == "weekly" else None,
        window_start=draw(optional_times),
        window_end=draw(optional_times),
    )


@st.composite
def cases(draw: st.DrawFn, cadences: tuple[str, ...] = ("daily", "weekly", "interval")) -> tuple[Schedule, datetime]:
    """A schedule and a moment: half of the moments lie near a change of the schedule's own clock."""
    job = draw(schedules(cadences))
    moment = draw(moments)
    if draw(st.booleans()):
        moment = next_change(ZoneInfo(job.time_zone), moment) + timedelta(minutes=draw(st.integers(-3000, 3000)))
    return job, moment


def wall(moment: datetime, job: Schedule) -> datetime:
    return moment.astimezone(ZoneInfo(job.time_zone)).replace(tzinfo=None)


def shows_or_has_just_jumped(moment: datetime, at: time, job: Schedule) -> bool:
    """Whether the local clock shows `at` for the first time that day, or has at this instant jumped over it."""
    local = wall(moment, job)
    if local.time() == at:
        return moment.astimezone(ZoneInfo(job.time_zone)).fold == 0
    before = wall(moment - timedelta(seconds=1), job)
    meant = datetime.combine(before.date(), at)
    return before < (meant if meant > before else meant + timedelta(days=1)) < local


def inside(moment: datetime, job: Schedule) -> bool:
    """Whether the local clock stands inside the window, by its hands alone."""
    start, end, shown = job.window_start or time(), job.window_end, wall(moment, job).time()
    if end is None or end == start:
        return True
    return start <= shown < end if start < end else (shown >= start or shown < end)


def is_near_a_change(moment: datetime, job: Schedule) -> bool:
    zone = ZoneInfo(job.time_zone)
    around = {(moment + timedelta(hours=hours)).astimezone(zone).utcoffset() for hours in (-26, -3, 0, 3, 26)}
    return len(around) > 1


@given(cases())
def test_the_next_due_time_is_always_later(case: tuple[Schedule, datetime]) -> None:
    """A clock that was set back gives an earlier `after`, never a due time that has passed already."""
    job, after = case
    assert compute_next_due(job, after) > after


@given(cases(), st.timedeltas(timedelta(0), timedelta(days=20)))
def test_it_is_monotone(case: tuple[Schedule, datetime], later: timedelta) -> None:
    job, after = case
    assert compute_next_due(job, after) <= compute_next_due(job, after + later)


@given(cases(("daily", "weekly")), st.floats(0, 1, exclude_max=True))
def test_planning_again_before_it_is_due_changes_nothing(case: tuple[Schedule, datetime], share: float) -> None:
    job, after = case
    assume(job.cadence == "daily" or job.weekday is not None)
    due = compute_next_due(job, after)
    between = after + (due - after) * share
    assume(between < due)
    assert compute_next_due(job, between) == due


@given(cases(("daily", "weekly")))
def test_daily_and_weekly_jobs_are_due_when_their_window_begins(case: tuple[Schedule, datetime]) -> None:
    job, after = case
    assert shows_or_has_just_jumped(compute_next_due(job, after), job.window_start or time(), job)


@given(cases(("daily",)))
def test_daily_jobs_are_due_once_each_local_day(case: tuple[Schedule, datetime]) -> None:
    job, after = case
    due, days = after, []
    for _ in range(12):
        due = compute_next_due(job, due)
        days.append(day_of_window(due, job))
    for one, following in pairwise(days):
        left_out = job.time_zone in {"Pacific/Apia", "Pacific/Kwajalein"} and following - one == timedelta(days=2)
        assert following - one == timedelta(days=1) or left_out, days


def day_of_window(due: datetime, job: Schedule) -> date:
    """The local day of a due time; one that fell into a jump over midnight belongs to the day on which that began."""
    start, before = job.window_start or time(), wall(due - timedelta(seconds=1), job)
    jumped = wall(due, job).time() != start and before.time() < start
    return (before if jumped else wall(due, job)).date()


@given(cases(("weekly",)))
def test_weekly_jobs_are_due_once_a_week(case: tuple[Schedule, datetime]) -> None:
    job, after = case
    first = compute_next_due(job, after)
    second = compute_next_due(job, first)
    assert abs((second - first) - timedelta(days=7)) <= timedelta(hours=25)
    if job.weekday is not None and not is_near_a_change(first, job):
        assert wall(first, job).weekday() == job.weekday
        assert first - after <= timedelta(days=8)
    if job.weekday is None:
        assert timedelta(days=5) < first - after <= timedelta(days=8)


@given(cases(("interval",)))
def test_interval_jobs_keep_their_distance_and_their_window(case: tuple[Schedule, datetime]) -> None:
    job, after = case
    assert job.interval_minutes is not None
    earliest = after + timedelta(minutes=job.interval_minutes)
    due = compute_next_due(job, after)
    assert due >= earliest
    if job.window_start is None and job.window_end is None:
        assert due == earliest
    elif not is_near_a_change(earliest, job):
        assert inside(due, job)
        assert due == earliest or not inside(earliest, job), "nothing is put off that could run"
        assert due - earliest < timedelta(days=1)
    assert due - earliest <= timedelta(days=2, hours=1)


@given(cases(), st.integers(0, 3))
def test_no_due_time_of_a_clock_that_goes_forward_is_beyond_a_period(
    case: tuple[Schedule, datetime], days: int
) -> None:
    job, after = case
    assert not is_beyond_a_period(job, compute_next_due(job, after), after + timedelta(days=days))


@given(cases())
def test_a_clock_set_back_by_long_leaves_due_times_beyond_a_period(case: tuple[Schedule, datetime]) -> None:
    job, after = case
    assert is_beyond_a_period(job, compute_next_due(job, after + timedelta(days=40)), after)


def berlin(*parts: int, fold: int = 0) -> datetime:
    year, month, day, hour, minute = parts
    return datetime(year, month, day, hour, minute, tzinfo=ZoneInfo(BERLIN), fold=fold)


@pytest.mark.parametrize(
    ("job", "after", "due"),
    [
        # 29 March 2026, 02:00 → 03:00: 02:30 does not exist.
        (Schedule("daily", BERLIN, window_start=time(2, 30)), berlin(2026, 3, 28, 12, 0), berlin(2026, 3, 29, 3, 0)),
        (Schedule("daily", BERLIN, window_start=time(2, 30)), berlin(2026, 3, 29, 3, 0), berlin(2026, 3, 30, 2, 30)),
        # 25 October 2026, 03:00 → 02:00: 02:30 comes twice.
        (Schedule("daily", BERLIN, window_start=time(2, 30)), berlin(2026, 10, 24, 12, 0), berlin(2026, 10, 25, 2, 30)),
        (
            Schedule("daily", BERLIN, window_start=time(2, 30)),
            berlin(2026, 10, 25, 2, 30),
            berlin(2026, 10, 26, 2, 30),
        ),
        # A window that the jump swallows is one instant, so the night is not skipped.
        (
            Schedule("interval", BERLIN, 60, None, time(2, 10), time(2, 50)),
            berlin(2026, 3, 28, 2, 40),
            berlin(2026, 3, 29, 3, 0),
        ),
        # The window ends at the first 02:30, so the second is outside.
        (
            Schedule("interval", BERLIN, 60, None, time(1, 0), time(2, 30)),
            berlin(2026, 10, 25, 2, 0),
            berlin(2026, 10, 26, 1, 0),
        ),
        # Over midnight: 01:30 belongs to the window that began the evening before.
        (
            Schedule("interval", BERLIN, 90, None, time(22, 0), time(4, 0)),
            berlin(2026, 6, 2, 0, 0),
            berlin(2026, 6, 2, 1, 30),
        ),
        (
            Schedule("interval", BERLIN, 90, None, time(22, 0), time(4, 0)),
            berlin(2026, 6, 2, 3, 0),
            berlin(2026, 6, 2, 22, 0),
        ),
        # A week after the last run, by the window that it ran in.
        (
            Schedule("weekly", BERLIN, window_start=time(22, 0), window_end=time(4, 0)),
            berlin(2026, 6, 2, 1, 0),
            berlin(2026, 6, 8, 22, 0),
        ),
        (Schedule("weekly", BERLIN, None, 6, time(3, 0)), berlin(2026, 6, 2, 1, 0), berlin(2026, 6, 7, 3, 0)),
        (Schedule("weekly", BERLIN, None, 6, time(3, 0)), berlin(2026, 6, 7, 3, 0), berlin(2026, 6, 14, 3, 0)),
        # Without a window a day begins at midnight.
        (Schedule("daily", BERLIN), berlin(2026, 6, 2, 0, 0), berlin(2026, 6, 3, 0, 0)),
    ],
)
def test_the_hours_at_which_clocks_change(job: Schedule, after: datetime, due: datetime) -> None:
    assert compute_next_due(job, after) == due.astimezone(UTC)


def test_a_day_that_a_zone_left_out_is_no_day() -> None:
    """Apia went from 29 to 31 December 2011: a daily job has nothing to do on a day that never was."""
    apia = ZoneInfo("Pacific/Apia")
    job = Schedule("daily", "Pacific/Apia", window_start=time(10, 0))
    due = compute_next_due(job, datetime(2011, 12, 29, 12, 0, tzinfo=apia))
    assert due == datetime(2011, 12, 31, 10, 0, tzinfo=apia)
    friday = Schedule("weekly", "Pacific/Apia", weekday=4, window_start=time(10, 0))
    due = compute_next_due(friday, datetime(2011, 12, 29, 12, 0, tzinfo=apia))
    assert due.astimezone(apia).date() == date(2011, 12, 31), "a week without its Friday still has its run"


def test_mistake_34_what_was_missed_is_followed_by_the_next_window_and_not_by_the_one_after() -> None:
    """A host that was off at 10:00 runs the job at 21:00; tomorrow's window stays tomorrow's."""
    job = Schedule("daily", BERLIN, window_start=time(10, 0), window_end=time(11, 0))
    assert compute_next_due(job, berlin(2026, 6, 2, 21, 0)) == berlin(2026, 6, 3, 10, 0)
    assert compute_next_due(job, berlin(2026, 6, 3, 9, 0)) == berlin(2026, 6, 3, 10, 0)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"cadence": "hourly"}, "not one of daily, weekly, interval"),
        ({"cadence": "interval"}, "interval_minutes is needed"),
        ({"cadence": "daily", "interval_minutes": 5}, "and by no other"),
        ({"cadence": "interval", "interval_minutes": 0}, "at least 1"),
        ({"cadence": "weekly", "weekday": 7}, "weekday"),
        ({"cadence": "daily", "weekday": 1}, "weekly jobs alone"),
        ({"cadence": "daily", "time_zone": "Europe/Berlni"}, "not an IANA time zone"),
        ({"cadence": "daily", "time_zone": "../etc/passwd"}, "not an IANA time zone"),
        ({"cadence": "daily", "time_zone": "Europe"}, "not an IANA time zone"),
        ({"cadence": "daily", "time_zone": ""}, "not an IANA time zone"),
    ],
)
def test_a_schedule_that_can_never_be_due_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSchedule, match=words):
        Schedule(**wrong)
