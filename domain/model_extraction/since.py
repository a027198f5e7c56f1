"""The start of a memory's validity: the date in an answer, at its precision, if the sources support it.

The stored time is the start of the period: Monday of a week, the first of a month, 1 January of a year. A start is
never later than the event. A date that no source names or hints at is ignored; the event's time is used instead.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from slowwave_server.domain.dates import local_day, mentions
from slowwave_server.domain.model_extraction.asking import PRECISIONS, Precision, ShownEvent

_GIVEN = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
_MOST_YEARS = 120
_SATURDAY = 5
_AND_DAY = re.compile(r"\s*(?:,|and|or|to|-|\u2013)\s*(?:the )?(\d{1,2})(?:st|nd|rd|th)?\b")
_HINTS = re.compile(
    r"\b(?:ago|last|since|past|previous|earlier|before|back in|for (?:\w+ ){1,3}(?:days|weeks|months|years)|weekend|"
    r"fortnight|yesterday|today|tonight|night|morning|evening|(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|"
    r"autumn|fall|winter|christmas|easter|january|february|march|april|may|june|july|august|september|october|november|"
    r"december|(?:19|20)\d\d|\d{1,2}[./]\d{1,2}|\d+(?:st|nd|rd|th))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Since:
    """The start of validity. at: the time to store; day: the first day of the period, None if only `at` is known."""

    at: datetime
    day: date | None = None
    precision: Precision = "unknown"


def since(item: Mapping[str, Any], sources: Iterable[ShownEvent], heard: Iterable[str], time_zone: str) -> Since:
    """Return the start of a memory's validity. heard: texts to which the sources reply; they count as sources."""
    said = tuple(sources)
    last = max(event.event.happened_at for event in said)
    precision = item.get("precision")
    day = _given(item.get("valid_from"))
    if precision not in PRECISIONS or precision == "unknown" or day is None:
        return Since(last)
    times = [one.event.happened_at for one in said]
    on_the_day = [at for at in times if precision == "day" and local_day(at, time_zone) == day]
    if on_the_day:
        return Since(max(on_the_day), day, "day")
    begins = _first_day(day, precision)
    at = datetime.combine(begins, time.min, ZoneInfo(time_zone))
    if at > last or last.year - begins.year > _MOST_YEARS or not _is_borne(begins, precision, said, heard, time_zone):
        return Since(last)
    return Since(at, begins, precision)


def loose_days(text: str, today: date) -> set[date]:
    """Return days that a text implies without naming them in full: those of a weekend, and of "May 19th and 20th"."""
    found: set[date] = set()
    if re.search(r"\bweekend", text, re.IGNORECASE):
        saturday = today + timedelta(days=_SATURDAY - today.weekday())
        found.update(saturday + timedelta(days=shift) for shift in (-7, -6, 0, 1, 7, 8))
    named = mentions(text, today)
    for mention in named:
        tail = _AND_DAY.match(text, mention.end)
        if tail is not None and (day := _given(f"{mention.first:%Y-%m}-{int(tail[1]):02d}")) is not None:
            found.add(day)
    return found


def _is_borne(
    begins: date, precision: Precision, said: tuple[ShownEvent, ...], heard: Iterable[str], zone: str
) -> bool:
    """Return True if a text names a day of the period, or suggests a time that only a reader understands."""
    texts = [(one.text, local_day(one.event.happened_at, zone)) for one in said]
    texts += [(text, texts[-1][1]) for text in heard]
    named = [mention for text, today in texts for mention in mentions(text, today)]
    if any(_first_day(mention.first, precision) == begins for mention in named):
        return True
    # A hint that the calendar can resolve means another time.
    return not any(mention.past for mention in named) and any(_HINTS.search(text) for text, _ in texts)


def _first_day(day: date, precision: Precision) -> date:
    if precision == "week":
        return day - timedelta(days=day.weekday())
    if precision == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if precision == "year" else day


def _given(value: Any) -> date | None:
    match = _GIVEN.match(value) if isinstance(value, str) else None
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
    except ValueError:
        return None
