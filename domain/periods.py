"""Days, weeks, weekends, months and years of the calendar, at the precision at which people name them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

Tense = Literal["past", "future", "unclear"]


@dataclass(frozen=True, slots=True)
class Period:
    """The meaning of a date in words, as exact as the words. label: for readers, such as "2023-05" for a month."""

    label: str
    first: date
    last: date


def day_period(day: date) -> Period:
    """Return one day."""
    return Period(day.isoformat(), day, day)


def month_period(first: date) -> Period:
    """Return the month that begins with `first`."""
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    return Period(f"{first:%Y-%m}", first, last)


def shifted(unit: str, today: date, count: int) -> Period:
    """Return the day, week, weekend, month or year `count` units from that of `today`."""
    if unit == "day":
        return day_period(today + timedelta(days=count))
    monday = today - timedelta(days=today.weekday())
    if unit == "week":
        first = monday + timedelta(weeks=count)
        return Period(f"week of {first.isoformat()}", first, first + timedelta(days=6))
    if unit == "weekend":
        # On a Saturday or Sunday, "last weekend" is the previous one and "this weekend" the present one.
        first = monday + timedelta(weeks=count, days=5)
        return Period(f"weekend of {first.isoformat()}", first, first + timedelta(days=1))
    if unit == "month":
        months = today.year * 12 + today.month - 1 + count
        return month_period(date(months // 12, months % 12 + 1, 1))
    year = today.year + count
    return Period(f"{year:04d}", date(year, 1, 1), date(year, 12, 31))


def weekday_before(today: date, weekday: int) -> date:
    """Return the latest such weekday before `today`; Monday is 0."""
    return today - timedelta(days=(today.weekday() - weekday) % 7 or 7)


def weekday_of_week(today: date, weekday: int, weeks: int) -> date:
    """Return the weekday in the week that lies `weeks` after the week of `today`."""
    return today - timedelta(days=today.weekday()) + timedelta(weeks=weeks, days=weekday)


def choices_of_year(today: date, month: int, day: int) -> list[date]:
    """Return the day in the last, this and the next year; a year without this day (29 February) is excluded."""
    return [date(today.year + shift, month, day) for shift in (-1, 0, 1) if _exists(today.year + shift, month, day)]


SOON = 14
"""Days. "Your flight was moved to 21 May", said on 15 May, means the coming day, not that of last year."""
RECENT = 60
"""Days. Without a tense, a day that is at most this long ago is the meant day; else the coming one."""


def pointed_at(choices: Iterable[date], today: date, where: Tense) -> date:
    """Return the most likely choice for a day without its year. where: the tense; the near future outweighs it."""
    days = list(choices)
    over = max((day for day in days if day <= today), default=None)
    ahead = min((day for day in days if day >= today), default=None)
    if over is None or ahead is None:
        return ahead or over or min(days)
    back, on = (today - over).days, (ahead - today).days
    if where == "past":
        return ahead if on <= SOON < back + on else over
    return over if back <= (SOON if where == "future" else RECENT) and back < on else ahead


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
