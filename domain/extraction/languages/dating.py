"""Resolve dates in other languages against the day on which they were said (see `domain.dates`).

An ambiguous date stays unresolved: "nächsten Freitag" is resolved only if both of its readings are the same day, and a
bare weekday only if the sentence points to the past or the future.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from slowwave_server.domain.dates import Mention
from slowwave_server.domain.extraction.languages import Language, expression, language
from slowwave_server.domain.periods import (
    Period,
    Tense,
    choices_of_year,
    day_period,
    pointed_at,
    shifted,
    weekday_before,
    weekday_of_week,
)

MAX_MENTIONS = 20
_ANY_DAY = date(2001, 1, 3)
_Resolver = Callable[[re.Match[str], date, Tense], Period | None]
_ISO = re.compile(r"(?<![\d-])\d{4}-\d{2}-\d{2}(?![\d-])")


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    resolve: _Resolver


def mentions(text: str, today: date, code: str, tense: Tense) -> tuple[Mention, ...]:
    """Return the dates in a text, in order, without uncertain or impossible ones."""
    matches = [(match, rule) for rule in _rules(code) for match in rule.pattern.finditer(text)]
    taken: list[tuple[int, int]] = []
    found: list[Mention] = []
    for match, rule in sorted(matches, key=lambda one: (one[0].start() - one[0].end(), one[0].start())):
        start, end = match.span()
        if any(start < last and end > first for first, last in taken):
            continue  # a longer ambiguous form excludes the shorter forms inside it
        taken.append((start, end))
        meant = _resolved(rule, match, today, tense)
        if meant is not None:
            found.append(Mention(start, end, meant.label, meant.first, meant.last < today))
    return tuple(sorted(found, key=lambda one: one.start)[:MAX_MENTIONS])


def is_dated(text: str, code: str) -> bool:
    """Return True if a text names a day other than the day on which it was said."""
    return any(mention.first != _ANY_DAY for mention in mentions(text, _ANY_DAY, code, "future"))


def _resolved(rule: _Rule, match: re.Match[str], today: date, tense: Tense) -> Period | None:
    try:
        return rule.resolve(match, today, tense)
    except (ValueError, OverflowError):
        return None  # a day that the month does not have


@cache
def _rules(code: str) -> tuple[_Rule, ...]:
    """Return the rules of a language."""
    spoken = language(code)
    if spoken is None:
        return ()
    rules = [*_of_numbers(spoken), *_of_words(spoken), *_of_weekdays(spoken)]
    return (_Rule(_ISO, lambda match, _today, _tense: day_period(date.fromisoformat(match.group()))), *rules)


def _of_words(spoken: Language) -> Iterator[_Rule]:
    """Yield rules for "morgen" and "letzte Woche"; null marks words that are not a date, such as "jeden Morgen"."""
    words: dict[str, list[object] | None] = spoken.dates["words"]
    for phrase, meaning in words.items():
        pattern = _compiled(expression(phrase, spaced=spoken.spaced, loose=spoken.loose_accents), spoken)
        yield _Rule(pattern, _shift(None if meaning is None else (str(meaning[0]), int(str(meaning[1])))))


def _shift(meaning: tuple[str, int] | None) -> _Resolver:
    return lambda _match, today, _tense: None if meaning is None else shifted(meaning[0], today, meaning[1])


def _of_numbers(spoken: Language) -> Iterator[_Rule]:
    """Yield rules for forms with numbers: "vor drei Wochen", "in 2 Tagen", "3. Mai", "3. Mai 2027"."""
    data = spoken.dates
    number = _either([str(n) for n in data["numbers"]], spoken, r"\d{1,3}")
    unit = _either([form for forms in data["units"].values() for form in forms.split("|")], spoken)
    month = _either([form for forms in data["months"] for form in forms.split("|")], spoken)
    groups = {
        "{n}": rf"(?P<n>{number})",
        "{unit}": rf"(?P<unit>{unit})",
        "{d}": r"(?<!\d)(?P<d>\d{1,2})",
        "{month}": rf"(?P<month>{month})",
        "{y}": r"(?P<y>(?:19|20)\d\d)",
    }
    for sign, forms in ((-1, data["ago"]), (1, data["ahead"])):
        for form in forms:
            yield _Rule(_compiled(_filled(form, groups, spoken), spoken), _counted(spoken, sign))
    for form in data["day_of_month"]:
        yield _Rule(_compiled(_filled(form, groups, spoken), spoken), _day_of_month(spoken))


def _counted(spoken: Language, sign: int) -> _Resolver:
    def resolve(match: re.Match[str], today: date, _tense: Tense) -> Period | None:
        said = match["n"].lower()
        count = int(said) if said.isdigit() else int(spoken.dates["numbers"][said])
        unit = next(u for u, forms in spoken.dates["units"].items() if match["unit"].lower() in forms.split("|"))
        return shifted(unit, today, sign * count)

    return resolve


def _day_of_month(spoken: Language) -> _Resolver:
    def resolve(match: re.Match[str], today: date, tense: Tense) -> Period | None:
        said = match["month"].lower().rstrip(".")
        month = next(at for at, forms in enumerate(spoken.dates["months"], 1) if said in forms.split("|"))
        if (year := match.groupdict().get("y")) is not None:
            return day_period(date(int(year), month, int(match["d"])))
        if tense == "unclear":
            return None
        return day_period(pointed_at(choices_of_year(today, month, int(match["d"])), today, tense))

    return resolve


def _of_weekdays(spoken: Language) -> Iterator[_Rule]:
    """Yield rules for weekdays, by meaning: coming, latest, last week, next week, unclear, bare, none."""
    days = [form for forms in spoken.dates["weekdays"] for form in forms.split("|")]
    group = {"{}": rf"(?P<weekday>{_either(days, spoken)})"}
    for form, meaning in spoken.dates["weekday"].items():
        yield _Rule(_compiled(_filled(form, group, spoken), spoken), _weekday(spoken, meaning))


def _weekday(spoken: Language, meaning: str) -> _Resolver:
    def resolve(match: re.Match[str], today: date, tense: Tense) -> Period | None:
        said = match["weekday"].lower()
        at = next(at for at, forms in enumerate(spoken.dates["weekdays"]) if said in forms.split("|"))
        day = _day_meant(meaning, today, at, tense)
        return None if day is None else day_period(day)

    return resolve


def _day_meant(meaning: str, today: date, at: int, tense: Tense) -> date | None:
    before = weekday_before(today, at)
    coming = before + timedelta(weeks=1) if before + timedelta(weeks=1) > today else before + timedelta(weeks=2)
    next_week = weekday_of_week(today, at, 1)
    meant = {
        "coming": coming,
        "latest": before,
        "this week": weekday_of_week(today, at, 0),
        "last week": weekday_of_week(today, at, -1),
        "next week": next_week,
        "unclear": next_week if coming == next_week else None,
        "bare": {"past": before, "future": coming, "unclear": None}[tense],
    }
    return meant.get(meaning)


def _either(forms: list[str], spoken: Language, *more: str) -> str:
    ordered = sorted(forms, key=len, reverse=True)
    return "|".join((*more, *(expression(form, spaced=spoken.spaced, loose=spoken.loose_accents) for form in ordered)))


def _filled(form: str, groups: dict[str, str], spoken: Language) -> str:
    parts = re.split(r"(\{\w*\})", form)
    return "".join(groups.get(part) or _literal(part, spoken) for part in parts)


def _literal(part: str, spoken: Language) -> str:
    lead, tail = part[: len(part) - len(part.lstrip())], part[len(part.rstrip()) :] if part.strip() else ""
    space = " " if spoken.spaced else r"\s?"
    return (
        (space if lead else "")
        + expression(part, spaced=spoken.spaced, loose=spoken.loose_accents)
        + (space if tail else "")
    )


def _compiled(pattern: str, spoken: Language) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)" if spoken.spaced else pattern, re.IGNORECASE)
