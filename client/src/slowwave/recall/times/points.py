"""Match points of time: a pattern over the tags of words (words.py), and the days that a match means."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from slowwave.recall.times.spans import (
    DAY,
    Span,
    add_months,
    ago,
    day_span,
    month_span,
    season_span,
    trailing,
    unit_span,
    weekday_span,
    year_span,
)
from slowwave.recall.times.words import Token

LONGEST_MONTH, YEAR_MONTHS, CENTURY = 31, 12, 100
SATURDAY = 5
AROUND = 14
"""So many days before and after are "this time last year"."""


@dataclass(frozen=True, slots=True)
class Point:
    """A time that words name. end: the index of the token after the words; sure: True if the words name it without a
    preposition; indirect: True if they contain no date ("last week", "the week of 8 May").
    """

    span: Span
    end: int
    sure: bool
    indirect: bool


@dataclass(frozen=True, slots=True)
class Words:
    """The tokens of a question that is asked on `today`. american: True if "5/3" is 3 May."""

    tokens: Sequence[Token]
    tags: str
    today: date
    american: bool

    def point(self, place: int) -> Point | None:
        """Return the longest point that begins at this token."""
        best: Point | None = None
        for pattern, sure, indirect, made in _POINTS:
            match = pattern.match(self.tags, place)
            if match is None or (best is not None and match.end() <= best.end):
                continue
            try:
                span = made(self, match)
            except (OverflowError, ValueError):  # "3000 years ago" lies before the first year that a date can have
                span = None
            if span is not None:
                best = Point(span, match.end(), sure, indirect)
        return best

    def number(self, place: int) -> int:
        """Return the value of a token that is a number."""
        return int(self.tokens[place].value)

    def _one(self, match: re.Match[str], tags: str) -> int | None:
        """Return the value of the first token in the match that has one of these tags."""
        places = (place for place in range(*match.span()) if self.tags[place] in tags)
        return next((self.number(place) for place in places), None)

    def _unit(self, match: re.Match[str]) -> str:
        return str(next(self.tokens[p].value for p in range(*match.span()) if self.tags[p] == "U"))

    def _offset(self, match: re.Match[str]) -> int:
        return -1 if set(match[0]) & {"L", "p"} else 1 if "X" in match[0] else 0

    def day_days(self, match: re.Match[str]) -> Span | None:
        day, month, year = self._one(match, "NO"), self._one(match, "M"), self._one(match, "Y")
        return day_span(self.today, day, month, year) if day and day <= LONGEST_MONTH else None

    def written_days(self, match: re.Match[str]) -> Span | None:
        written = str(self.tokens[match.start()].value)
        parts = [int(part) for part in re.split(r"[-/.]", written)]
        if match[0].endswith("/"):
            parts.append(0)
        if parts[0] > LONGEST_MONTH:
            parts.reverse()
        elif self.american and "." not in written and parts[0] <= YEAR_MONTHS:
            parts[0], parts[1] = parts[1], parts[0]
        day, month, year = parts
        return day_span(self.today, day, month, year or None) if 1 <= month <= YEAR_MONTHS and day >= 1 else None

    def month_days(self, match: re.Match[str]) -> Span | None:
        year, month = self._one(match, "Y"), self._one(match, "M")
        if "U" in match[0]:
            if self._unit(match) != "y":
                return None
            year = self.today.year + self._offset(match)
        return month_span(self.today, month or 1, year, self._offset(match))

    def season_days(self, match: re.Match[str]) -> Span | None:
        year = self._one(match, "Y")
        if "U" in match[0]:
            year = self.today.year + self._offset(match) if self._unit(match) == "y" else None
        month = self._one(match, "S") or 3
        if "C" in match[0] and year is None:
            year = self.today.year
        return season_span(self.today, month, year, self._offset(match))

    def quarter_days(self, match: re.Match[str]) -> Span:
        number = self._one(match, "q") or 1
        year = self._one(match, "Y")
        return season_span(self.today, 3 * number - 2, year)

    def ago_days(self, match: re.Match[str]) -> Span:
        if "W" in match[0]:
            return weekday_span(self.today, self._one(match, "W") or 0, -max(1, self._one(match, "N") or 0))
        if "h" in match[0]:
            return ago(self.today, "m", 6)
        return ago(self.today, self._unit(match), self._one(match, "N") or 0)

    def trailing_days(self, match: re.Match[str]) -> Span:
        count = self._one(match, "N")
        return trailing(self.today, self._unit(match), 1 if count is None else count)

    def unit_days(self, match: re.Match[str]) -> Span | None:
        unit = self._unit(match)
        if unit == "h":
            return None
        offset = self._offset(match)
        if unit == "k" and offset == 0:
            span = unit_span(self.today, unit, 0)
            return span if span.begin and span.begin <= self.today else unit_span(self.today, unit, -1)
        if unit == "k" and offset == 1 and self.today.weekday() < SATURDAY:
            offset = 0
        return unit_span(self.today, unit, offset)

    def weekday_days(self, match: re.Match[str]) -> Span:
        offset = 1 if "C" in match[0] and "p" not in match[0] else self._offset(match)
        return weekday_span(self.today, self._one(match, "W") or 0, offset)

    def counted_days(self, match: re.Match[str]) -> Span:
        offset = -1 if "L" in match[0] else self._one(match, "T") or 0
        return unit_span(self.today, "d", offset)

    def year_days(self, match: re.Match[str]) -> Span:
        return year_span(self.number(match.start()))

    def decade_days(self, match: re.Match[str]) -> Span:
        said = self.number(match.start())
        first = said if said >= CENTURY else said + (1900 if said > self.today.year % CENTURY else 2000)
        return Span(date(first, 1, 1), date(first + 10, 1, 1), year=True)

    def around_days(self, match: re.Match[str]) -> Span:
        middle = add_months(self.today, 12 * self._offset(match))
        return Span(middle - AROUND * DAY, middle + (AROUND + 1) * DAY)

    def weekend_days(self, match: re.Match[str]) -> Span | None:
        """Return the days of the last weekend that has begun. No other unit alone names a time."""
        return self.unit_days(match) if self._unit(match) == "k" else None


Made = Callable[[Words, re.Match[str]], Span | None]
_POINTS: tuple[tuple[re.Pattern[str], bool, bool, Made], ...] = tuple(
    (re.compile(pattern), sure, indirect, made)
    for pattern, sure, indirect, made in (
        # pattern, True if the words are unambiguous alone, True if they name no date
        (r"D", True, False, Words.written_days),
        (r"/", False, False, Words.written_days),
        (r"(?:W,?)?[NO]E?M(?:,?E?Y)?", True, False, Words.day_days),
        (r"(?:W,?)?M[NO],?E?Y", True, False, Words.day_days),
        (r"(?:W,?)?M[NO]", False, False, Words.day_days),
        (r"M,?E?Y", True, False, Words.month_days),
        (r"ME?(?:LU|UL|CU)", True, True, Words.month_days),
        (r"LM|ML|CM|XM|MX", True, True, Words.month_days),
        (r"M", False, False, Words.month_days),
        (r"S,?E?Y", True, False, Words.season_days),
        (r"SE?(?:LU|UL|CU)|LS|SL|CS|XS|SX", True, True, Words.season_days),
        (r"S", False, False, Words.season_days),
        (r"q(?:E?Y)?", True, False, Words.quarter_days),
        (r"[OL]?NUA|NWA|GNU|BNU|hA|[GB]h", True, True, Words.ago_days),
        (r"[Lp]NU|NLU|pU", True, True, Words.trailing_days),
        (r"LU|UL|CU|XU|UX", True, True, Words.unit_days),
        (r"U", False, True, Words.weekend_days),
        (r"LW|WL|C?pW|CW|XW|WX", True, True, Words.weekday_days),
        (r"W", False, False, Words.weekday_days),
        (r"T|Ln|Cn|nL|nC", True, True, Words.counted_days),
        (r"tL?U|tLU", True, True, Words.around_days),
        (r"Y", False, False, Words.year_days),
        (r"d", False, False, Words.decade_days),
    )
)
