"""Resolve dates in words by the time at which they were said: "yesterday", said on 8 May 2023, is 2023-05-07.

The original words stay, and the date follows them in brackets. A month stays a month and a year stays a year: no date
becomes more exact than the words. The grammar is English; weeks begin on Monday; "next Friday" is in the next week,
"this Friday" is the coming one, "last Friday" is the latest Friday before the day of speech. The tense decides the year
of a date without a year; without a tense, the nearest date counts.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from slowwave_server.domain.periods import (
    Period,
    Tense,
    choices_of_year,
    day_period,
    month_period,
    pointed_at,
    shifted,
    weekday_before,
    weekday_of_week,
)

MAX_MENTIONS = 20
"""A text with more dates is a table, not a statement: the other dates stay unchanged."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A date or period that a text names.

    text[start:end]: its words. label: the period that they mean, as text: "2026-03-05", "2026-03", "winter
    2025/2026". first: the first day of the period. past: True if the whole period precedes the day of speech.
    """

    start: int
    end: int
    label: str
    first: date
    past: bool


_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_SATURDAY = 5
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "couple of": 2, "three": 3, "four": 4, "five": 5,
    "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15,
    "twenty": 20, "thirty": 30,
}  # fmt: skip

_HINTS = (
    "day", "week", "month", "year", "ago", "night", "morning", "tomorrow", "spring", "summer", "autumn", "fall",
    "winter", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "-0", "-1",
)  # fmt: skip
_COUNT = r"(?P<{0}>\d{{1,3}}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + r")"
_DAY = "|".join(_DAYS)
_MONTH = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?"
)
_YEAR = r"(?:19|20)\d\d"
_DATES = re.compile(
    r"\b(?:(?P<iso>\d{4}-\d{2}-\d{2})(?![\d-])|"
    r"(?P<before>the day before yesterday)|(?P<after>the day after tomorrow)|"
    r"(?P<near>yesterday|today|tonight|tomorrow|last night|this (?:morning|afternoon|evening))|"
    rf"{_COUNT.format('n_ago')} (?P<unit_ago>day|night|week|weekend|month|year|{_DAY})s? (?:ago|back)\b|"
    rf"in {_COUNT.format('n_in')} (?P<unit_in>day|week|month|year)s?(?: time)?\b|"
    rf"(?P<rel>last|past|this(?: past| coming)?|next|coming) (?P<unit>week|weekend|month|year|{'|'.join(_SEASONS)}|"
    rf"{_DAY}|{_MONTH})\b|"
    rf"(?:the )?(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{_MONTH})\b(?:\.?,? (?P<y1>{_YEAR})\b)?|"
    rf"(?P<m2>{_MONTH})\.? (?:the )?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (?P<y2>{_YEAR})\b)?|"
    rf"(?:on )(?P<weekday>{_DAY})\b(?! (?:nights|mornings|evenings)|,? (?:the )?\d|,? (?:{_MONTH})\b)"
    r")(?!'?s\b)",
    re.IGNORECASE,
)
_WITHIN = re.compile(rf"\s(?:of|in) (?:{_MONTH}|the|his|her|their|my|our|a|school|term)\b", re.IGNORECASE)
_MODAL = re.compile(r"may (?:also|be|cause|explain|have|help|lead|mean|need|not|only|or|seem|still|take|well|\w+ly)\b")
"""The verb: "this may have gone unnoticed"."""
_RANGE = re.compile(
    rf"\s?(?:-|\u2013|to|until)\s?(?:(?:{_MONTH})\.? )?\d{{1,2}}(?:st|nd|rd|th)?,? (?P<year>{_YEAR})\b", re.IGNORECASE
)
"""The rest of a range after its first day: "24 March-30th, 2026"."""
_FUTURE = re.compile(
    r"\b(?:will|won't|shall|going to|gonna|plan|plans|planning|next|due|deadline|tomorrow|upcoming|coming|leave|"
    r"leaving|flying|meeting|scheduled|booked|by|until|hope|hoping)\b|'ll\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|had|did|went|got|came|took|made|saw|met|said|told|last|ago|since|[a-z]{2,14}ed)\b", re.IGNORECASE
)

_STATE = re.compile(r"\b(?:am|is|are|'m|'re|'s|be) (?:\w+ly |already |now |not )?[a-z]{2,14}ed\b", re.IGNORECASE)
"""Present states in a past form: "I'm signed up for 11 October"."""
_YEARLY = re.compile(r"\b(?:birthdays?|born|anniversary|every year|each year|name day)\b", re.IGNORECASE)
_NOT_SINCE = re.compile(
    r"\b(?:not|never|nobody|no one|nothing|none|first|last|longest|fewest|best|worst|have|has|'ve|had|"
    r"\w+ed)\b|n't\b",
    re.IGNORECASE,
)
"""Before "in ten years": words that make it past years ("I've not had a drink in ten years")."""

# "We decided to fly on 14 May": the decision is in the past, the day is not.
_AHEAD = re.compile(
    r"\b(?:decided|agreed|promised|arranged|planned|intended|offered|wanted|hoped) to\b|"
    r"\b(?:planned|scheduled|expected|booked|set|signed up) for\b|"
    r"\b(?:moved|rescheduled|shifted|pushed|postponed|put|brought|extended|delayed)\b[^.;]{0,60}?\b(?:to|until|till) "
    rf"(?:(?:{_DAY}),? )?(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})|(?:{_MONTH})\.? \d{{1,2}}(?!\d))\b",
    re.IGNORECASE,
)


def local_day(at: datetime, time_zone: str) -> date:
    """Return the calendar day of an aware time in an IANA zone."""
    return at.astimezone(ZoneInfo(time_zone)).date()


def tense(text: str) -> Tense:
    """Return the tense of a sentence's verbs."""
    told = _STATE.sub(" ", text)
    past, future = _PAST.search(told) is not None, _FUTURE.search(text) is not None
    if _AHEAD.search(text) is not None:
        return "future"
    if past == future:
        return "unclear"
    return "past" if past else "future"


def mentions(text: str, today: date) -> tuple[Mention, ...]:
    """Return the dates that `text` names, in order, as said on `today`, without impossible ones ("30 February")."""
    low = text.lower()
    if not any(hint in low for hint in _HINTS):
        return ()
    found: list[Mention] = []
    for match in islice(_DATES.finditer(text), MAX_MENTIONS):
        span = _span(match, today, text)
        if span is not None:
            found.append(Mention(match.start(), match.end(), span.label, span.first, span.last < today))
    return tuple(found)


def annotate(text: str, found: tuple[Mention, ...]) -> str:
    """Return `text` with each date after its words, unless spelled out: "yesterday (2023-05-07)"."""
    parts: list[str] = []
    at = 0
    for mention in found:
        parts.append(text[at : mention.end])
        if not re.search(rf"(?<![\w-]){re.escape(mention.label)}(?![\w-])", text):
            parts.append(f" ({mention.label})")
        at = mention.end
    return "".join(parts) + text[at:]


def _span(match: re.Match[str], today: date, text: str) -> Period | None:
    try:
        for group, resolve in _RESOLVERS.items():
            if match[group] is not None:
                return resolve(match, today, text)
    except (ValueError, OverflowError):
        return None  # a day that does not exist in the month, or a year outside the calendar
    return None


def _iso(match: re.Match[str], _today: date, _text: str) -> Period:
    return day_period(date.fromisoformat(match["iso"]))


def _near(match: re.Match[str], today: date, _text: str) -> Period:
    offset = {"yesterday": -1, "last night": -1, "tomorrow": 1}.get(match["near"].lower(), 0)
    return day_period(today + timedelta(days=offset))


def _ago(match: re.Match[str], today: date, _text: str) -> Period:
    unit, count = match["unit_ago"].lower(), _number(match["n_ago"])
    if unit in _DAYS:
        latest = weekday_before(today, _DAYS.index(unit))
        return day_period(latest - timedelta(weeks=count - 1))
    return shifted({"night": "day"}.get(unit, unit), today, -count)


def _in(match: re.Match[str], today: date, text: str) -> Period:
    if _NOT_SINCE.search(text[max(0, match.start() - 40) : match.start()]) is not None:
        raise ValueError("a span that is over, or unclear")
    return shifted(match["unit_in"].lower(), today, _number(match["n_in"]))


def _relative(match: re.Match[str], today: date, text: str) -> Period:
    unit = match["unit"].lower()
    if _WITHIN.match(text, match.end()) is not None:
        raise ValueError("a part of something else: the last week of April")
    if _MODAL.match(text, match.start("unit")) is not None:
        raise ValueError("the verb may")
    step = {"last": -1, "past": -1, "this past": -1, "this": 0}.get(match["rel"].lower(), 1)
    if unit in _DAYS:
        return day_period(_relative_weekday(match["rel"].lower(), unit, today))
    if unit in _SEASONS:
        return _season(unit, today, step)
    if unit in {"week", "weekend", "month", "year"}:
        if unit == "weekend" and match["rel"].lower() in {"this", "this coming", "coming"}:
            # "We camped this weekend", said on a Monday, means the weekend that has ended.
            step = -1 if today.weekday() < _SATURDAY and tense(_around(text, match)) == "past" else 0
        return shifted(unit, today, step)
    month = _month(unit)
    year = today.year - (step < 0 and month >= today.month) + (step > 0 and month <= today.month)
    return month_period(date(year, month, 1))


def _day_of_month(match: re.Match[str], today: date, text: str) -> Period:
    which = "1" if match["d1"] is not None else "2"
    if match.group().startswith("may ") and match.group()[-1].isdigit():
        raise ValueError("the verb: I may 5 times …")
    day, month, year = int(match[f"d{which}"]), _month(match[f"m{which}"]), match[f"y{which}"]
    if year is None and (until := _RANGE.match(text, match.end())) is not None:
        year = until["year"]
    if year is not None:
        return day_period(date(int(year), month, day))
    if _YEARLY.search(_around(text, match)) is not None:
        raise ValueError("a day of every year")
    return day_period(pointed_at(choices_of_year(today, month, day), today, _tense_at(text, match)))


def _bare_weekday(match: re.Match[str], today: date, text: str) -> Period:
    before = weekday_before(today, _DAYS.index(match["weekday"].lower()))
    ahead = before + timedelta(weeks=1)
    return day_period(before if tense(_around(text, match)) == "past" else ahead)


_RESOLVERS: dict[str, Callable[[re.Match[str], date, str], Period]] = {
    "iso": _iso,
    "before": lambda _match, today, _text: day_period(today - timedelta(days=2)),
    "after": lambda _match, today, _text: day_period(today + timedelta(days=2)),
    "near": _near,
    "unit_ago": _ago,
    "unit_in": _in,
    "unit": _relative,
    "d1": _day_of_month,
    "d2": _day_of_month,
    "weekday": _bare_weekday,
}


def _around(text: str, match: re.Match[str]) -> str:
    """Return the words near a match: enough to find the tense, at a bounded cost in a text without sentences."""
    return text[max(0, match.start() - 120) : match.end() + 120]


def _tense_at(text: str, match: re.Match[str]) -> Tense:
    """Return the tense at a match. A past verb of another clause does not count: "I got the 19th, and 31 July back"."""
    around = tense(_around(text, match))
    begin = max(text.rfind(mark, 0, match.start()) for mark in ",;.!?")
    return "unclear" if around == "past" and begin > 0 and tense(text[begin : match.end() + 40]) != "past" else around


def _season(name: str, today: date, step: int) -> Period:
    """Return the days of a northern season of three months. "Last": this year's if it has ended, else last year's."""
    start = date(today.year, _SEASONS[name], 1)
    year = today.year
    if step < 0:
        year -= (start + timedelta(days=91)) > today
    elif step > 0:
        year += start <= today
    first = date(year, _SEASONS[name], 1)
    label = f"winter {year}/{year + 1}" if name == "winter" else f"{name} {year}"
    return Period(label, first, first + timedelta(days=90))


def _relative_weekday(word: str, name: str, today: date) -> date:
    if word in {"last", "past", "this past"}:
        return weekday_before(today, _DAYS.index(name))
    if word == "next":
        return weekday_of_week(today, _DAYS.index(name), 1)
    return today + timedelta(days=(_DAYS.index(name) - today.weekday()) % 7)


def _number(word: str) -> int:
    low = word.lower()
    return _NUMBERS[low] if low in _NUMBERS else int(low)


def _month(word: str) -> int:
    return next(at for at, name in enumerate(_MONTHS, 1) if name.startswith(word.lower()[:3]))
