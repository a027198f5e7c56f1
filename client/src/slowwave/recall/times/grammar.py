"""The time that a query names: regular expressions over the tags of its words (words.py), longest first.

A point is a day, a month, a season … ("3 June", "last spring", "two weeks ago"). Some points are unambiguous; others
need a preposition: "in May", not "may I". Open-ended times ("since March") and ranges ("between May and July") consist
of points.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from slowwave.recall.times.points import Point, Words
from slowwave.recall.times.spans import DAY, Span, add_months, day_span, unit_span
from slowwave.recall.times.words import Token

WEEK, LONGEST_YEAR = 7, 366
_BORDERS = "ZBFVv"
_DAY_OF_MONTH = re.compile(r"I(O)(?=$|[^.A-Z])")
_DAYS_OF_MONTH = re.compile(r"(?:K[NO]J|R[NO][QV])[NO]E?M(?:,?E?Y)?")
_PART = re.compile(r"eE?|[OL][HU]E|UE")


@dataclass(frozen=True, slots=True)
class Named:
    """A time that a question names, at these offsets; indirect: it has no date ("last week", "the week of 8 May")."""

    span: Span
    start: int
    end: int
    indirect: bool


class Grammar:
    """Parses the times in the tokens of one question. american: True if "5/3" is 3 May."""

    def __init__(
        self, tokens: Sequence[Token], today: date, *, american: bool, compound: Callable[[Token], bool]
    ) -> None:
        self._tokens = tokens
        self._tags = "".join(token.tag for token in tokens)
        self._today = today
        self._words = Words(tokens, self._tags, today, american)
        self._compound = compound

    def times(self) -> list[Named]:
        """Return all times in order."""
        found: list[Named] = []
        place = 0
        while place < len(self._tokens):
            point = self._range(place) or self._border(place) or self._in(place)
            if point is None:
                place += 1
                continue
            begin, end = self._tokens[place].start, self._tokens[point.end - 1].end
            found.append(Named(point.span, begin, end, point.indirect))
            place = point.end
        return found

    def _in(self, place: int) -> Point | None:
        """Read a point that is unambiguous, or one after a preposition; "and" may join two of them."""
        # "May" after "for" may be a person; a year can't be.
        said = self._tags[place] in "IR" or self._tags.startswith("fY", place)
        start = place + said
        point = self._point(start)
        if point is None:
            match = _DAY_OF_MONTH.match(self._tags, place)
            day = day_span(self._today, self._words.number(match.start(1)), None, None) if match else None
            return Point(day, place + 2, True, False) if day else None
        if not (point.sure or said) or (not point.sure and self._followed(point.end)):
            return None
        other = self._point(point.end + 1) if self._tags[point.end : point.end + 1] == "J" else None
        return self._joined(point, other) if other and not self._followed(other.end) else point

    def _followed(self, end: int) -> bool:
        """Return True if the next word changes the meaning of a word for a time: "in spring boot", "in 2000 tokens"."""
        return end < len(self._tokens) and self._tags[end] in ".I" and self._compound(self._tokens[end])

    def _border(self, place: int) -> Point | None:
        """Read a time with one side open: "since March", "before 2022", "by 10 July"."""
        tag = self._tags[place]
        if tag not in _BORDERS:
            return None
        point = self._point(place + 1)
        if point is None or self._followed(point.end) or (tag == "v" and not point.sure):
            return None
        begin, end, year = point.span.begin, point.span.end, point.span.year
        match tag:
            case "Z":
                span = Span(begin, None, year)
            case "B":
                span = Span(None, begin, year)
            case "F":
                span = Span(end, None, year)
            case _:
                span = Span(None, end, year)
        return Point(span, point.end, True, point.indirect)

    def _range(self, place: int) -> Point | None:
        """Read a time from one point to another: "between May and July 2022", "from 3 to 10 March"."""
        tag = self._tags[place]
        if tag not in "KR":
            return None
        joint = "J" if tag == "K" else "QV"
        if match := _DAYS_OF_MONTH.match(self._tags, place):
            other = self._point(place + 3)
            first = self._words.number(place + 1)
            if other and other.span.begin and 1 <= first <= other.span.begin.day:
                begin = other.span.begin.replace(day=first)
                return Point(Span(begin, other.span.end, other.span.year), match.end(), True, False)
        one = self._point(place + 1)
        if one is None or self._tags[one.end : one.end + 1] not in tuple(joint):
            return None
        other = self._point(one.end + 1)
        return self._joined(one, other) if other else None

    def _joined(self, one: Point, other: Point) -> Point | None:
        """Return the time from the first to the second point; the first is in the second's year, never after it."""
        begin, end = one.span.begin, other.span.end
        if begin is None or end is None:
            return None
        if other.span.year and not one.span.year and not one.indirect:
            begin = add_months(begin, 12 * ((end - DAY).year - begin.year))
            begin = begin if begin < end else add_months(begin, -12)
        if not other.span.year and not other.indirect:
            if other.span.days == one.span.days == 1 and 0 < (begin - end).days < WEEK:
                begin -= WEEK * DAY
            while end <= begin:
                end = add_months(end, 12)
            while (end - begin).days > LONGEST_YEAR:
                end = add_months(end, -12)
        if begin > self._today and not one.span.year:
            return None
        if one.span.days == 1 and begin == self._today and end > self._today:
            begin, end = begin - WEEK * DAY, end - WEEK * DAY if end - DAY > self._today else end
        year = one.span.year or other.span.year
        return Point(Span(begin, end, year), other.end, True, one.indirect) if begin < end else None

    def _point(self, place: int) -> Point | None:
        """Read the time that begins at this token, including a part of a time."""
        return self._part(place) or self._words.point(place)

    def _part(self, place: int) -> Point | None:
        """A part of a point: "early March", "the first week of April", "the week of 8 May", "half of 2022"."""
        match = _PART.match(self._tags, place)
        inner = self._point(match.end()) if match else None
        if match is None or inner is None or inner.span.begin is None:
            return None
        if inner.span.days < WEEK and match[0] != "UE":
            return None
        head = self._tokens[place]
        span: Span | None
        if match[0][0] == "e":
            span = inner.span.third(int(head.value))
        elif match[0][0] == "U":
            span = unit_span(inner.span.begin, str(head.value), 0) if inner.span.days == 1 else None
        elif match[0][1] == "H":
            span = inner.span.half(2 if head.tag == "L" else int(head.value))
        else:
            span = inner.span.nth(str(self._tokens[place + 1].value), 0 if head.tag == "L" else int(head.value))
        return Point(span, inner.end, True, inner.indirect or "U" in match[0]) if span else None
