"""Calendar arithmetic: days, weeks, months, quarters, seasons, years as spans of local days."""

from dataclasses import dataclass
from datetime import date, timedelta

DAY = timedelta(days=1)
_LONGEST_BY_DAYS, _LAST_THIRD = 300, 3
FEW = 5
"""So many units back begins "a few days ago"."""
SOME = 3
"""So many units are "the past few months"."""


@dataclass(frozen=True, slots=True)
class Span:
    """Local days from `begin` to `end` (excluded); None for an open side. year: the text names the year itself."""

    begin: date | None
    end: date | None
    year: bool = False

    @property
    def days(self) -> int:
        """Return the length in days, a very large number if a side is open."""
        return 10**6 if self.begin is None or self.end is None else (self.end - self.begin).days

    def holds(self, day: date) -> bool:
        """Return True if a span with both ends contains the day."""
        return self.begin is not None and self.end is not None and self.begin <= day < self.end

    def third(self, which: int) -> "Span":
        """Return the first, second or last third: "early March", "mid-2022", "the end of May"."""
        begin, end = self._closed()
        if (end - begin).days > _LONGEST_BY_DAYS:
            first = add_months(begin, 4 * (which - 1))
            return Span(first, add_months(first, 4), self.year)
        part = (end - begin).days // 3
        return Span(
            begin + part * (which - 1) * DAY, end if which == _LAST_THIRD else begin + part * which * DAY, self.year
        )

    def half(self, which: int) -> "Span":
        """Return the first or the second half."""
        begin, end = self._closed()
        middle = begin + (end - begin) // 2
        return Span(begin, middle, self.year) if which == 1 else Span(middle, end, self.year)

    def nth(self, unit: str, which: int) -> "Span | None":
        """Return the first, second … week, weekend, quarter or month of the span; 0 is the last one."""
        begin, end = self._closed()
        if unit in "mq":
            months = 3 if unit == "q" else 1
            first = add_months(end, -months) if which == 0 else add_months(begin, months * (which - 1))
            return Span(first, add_months(first, months), self.year)
        if unit == "k":
            last = end - 2 * DAY
            saturday = begin + (5 - begin.weekday()) % 7 * DAY + 7 * (which - 1) * DAY
            saturday = saturday if which else last - (last.weekday() - 5) % 7 * DAY
            return Span(saturday, saturday + 2 * DAY, self.year)
        length = 7 if unit == "w" else 1
        first = end - length * DAY if which == 0 else begin + length * (which - 1) * DAY
        return Span(first, first + length * DAY, self.year) if unit in "wd" else None

    def _closed(self) -> tuple[date, date]:
        return self.begin or date.min, self.end or date.max


_MONTHS = "January February March April May June July August September October November December".split()
_LONGEST_IN_MONTHS = 100
_LONGEST_IN_YEARS = 800


def in_words(span: Span) -> str:
    """Return the words by which documents of these days are indexed: day, months and years, if they are few."""
    if span.begin is None or span.end is None or span.days > _LONGEST_IN_YEARS:
        return ""
    last = span.end - DAY
    years = " ".join(str(year) for year in range(span.begin.year, last.year + 1))
    if span.days > _LONGEST_IN_MONTHS:
        return years
    count = (last.year - span.begin.year) * 12 + last.month - span.begin.month + 1
    months = " ".join(_MONTHS[(span.begin.month - 1 + place) % 12] for place in range(count))
    return f"{span.begin.day} {months} {years}" if span.days == 1 else f"{months} {years}"


def add_months(day: date, months: int) -> date:
    """Return the same day this many months later, or the last day of a shorter month."""
    place = day.year * 12 + day.month - 1 + months
    year, month = divmod(place, 12)
    last = (date(year + (month + 1) // 12, (month + 1) % 12 + 1, 1) - DAY).day
    return date(year, month + 1, min(day.day, last))


def unit_span(today: date, unit: str, offset: int) -> Span:
    """Return the day, week (from Monday), weekend, month, quarter, year or decade at this distance from today's."""
    match unit:
        case "w":
            monday = today - today.weekday() * DAY + 7 * offset * DAY
            return Span(monday, monday + 7 * DAY)
        case "k":
            saturday = today + (5 - today.weekday()) * DAY  # Saturday is the day before a Sunday
            return Span(saturday + 7 * offset * DAY, saturday + (7 * offset + 2) * DAY)
        case "m" | "q":
            months = 3 if unit == "q" else 1
            first = add_months(date(today.year, (today.month - 1) // months * months + 1, 1), months * offset)
            return Span(first, add_months(first, months))
        case "y":
            return year_span(today.year + offset)
        case "c":
            decade = today.year // 10 * 10 + 10 * offset
            return Span(date(decade, 1, 1), date(decade + 10, 1, 1))
        case _:
            return Span(today + offset * DAY, today + (offset + 1) * DAY)


def ago(today: date, unit: str, count: int) -> Span:
    """Return the day, week, month or year this many units ago; 0 means "a few": from five units ago until now."""
    if unit == "h":
        return unit_span(today, "d", -(count // 24))
    if count == 0:
        return Span(unit_span(today, unit, -FEW).begin, unit_span(today, unit, 0).begin)
    return unit_span(today, unit, -count)


def trailing(today: date, unit: str, count: int) -> Span:
    """Return the time from this many units ago until now; 0 means "a few"."""
    count = count or SOME
    match unit:
        case "m" | "q" | "y" | "c":
            begin = add_months(today, -count * {"m": 1, "q": 3, "y": 12, "c": 120}[unit])
        case "h":
            begin = today - DAY * max(1, count // 24)
        case _:
            begin = today - DAY * count * (1 if unit == "d" else 7)
    return Span(begin, today + DAY)


def year_span(year: int) -> Span:
    """Return a year as a span."""
    return Span(date(year, 1, 1), date(year + 1, 1, 1), year=True)


def month_span(today: date, month: int, year: int | None, offset: int = 0) -> Span:
    """Return a month. offset, without a year: 0 the last that has begun, -1 the last ended, 1 the next to begin."""
    chosen = today.year if year is None else year
    if year is None:
        chosen -= month > today.month or (offset < 0 and month == today.month)
        chosen += offset > 0
    first = date(chosen, month, 1)
    return Span(first, add_months(first, 1), year is not None)


def season_span(today: date, month: int, year: int | None, offset: int = 0) -> Span:
    """Return three months from `month` on. offset: as in `month_span`."""
    first = date(today.year if year is None else year, month, 1)
    if year is None:
        first = first if first <= today else add_months(first, -12)
        if offset < 0 and add_months(first, 3) > today:
            first = add_months(first, -12)
        first = add_months(first, 12) if offset > 0 else first
    return Span(first, add_months(first, 3), year is not None)


def day_span(today: date, day: int, month: int | None, year: int | None) -> Span | None:
    """Return a day; without a year or a month, the last such day that is not in the future."""
    first = date(year or today.year, month or today.month, 1)
    for _ in range(24):
        if day <= (add_months(first, 1) - first).days and (year or first + (day - 1) * DAY <= today):
            found = first + (day - 1) * DAY
            return Span(found, found + DAY, year is not None)
        if year:
            return None
        first = add_months(first, -12 if month else -1)
    return None


def weekday_span(today: date, weekday: int, offset: int = 0) -> Span:
    """Return a day of the week: the last one, today included; -1: before today; 1: after today; -2: the second last."""
    back = (today.weekday() - weekday) % 7
    if offset < 0:
        back = (back or 7) + 7 * (-offset - 1)
    found = today + (7 - back if offset > 0 else -back) * DAY
    return Span(found, found + DAY)
