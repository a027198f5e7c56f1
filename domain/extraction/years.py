"""Give a day without a year the year that the same turn states for its month.

An agent's plan names the year once ("March 23rd, 2026") and not in its other lines ("Spa on March 28th"). Read alone,
such a line falls in the next or the last March after the day of speech.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import lru_cache

from slowwave_server.domain.dates import Mention, mentions

_MONTH = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)


def with_years(found: tuple[Mention, ...], said: str, turn: str, today: date) -> tuple[Mention, ...]:
    """Return the dates of `said`, a part of `turn`; a month for which the turn states two years changes nothing."""
    if all(_MONTH.search(_words(said, one)) is None or _states_year(said, one) for one in found):
        return found
    stated = _years(turn, today)
    return tuple(_in_year(one, said, stated, today) for one in found)


def _in_year(one: Mention, said: str, stated: Mapping[int, set[int]], today: date) -> Mention:
    years = stated.get(one.first.month, set())
    if len(years) != 1 or _states_year(said, one) or _MONTH.search(_words(said, one)) is None:
        return one
    try:
        day = one.first.replace(year=min(years))
    except ValueError:
        return one  # 29 February
    return (
        replace(one, label=day.isoformat(), first=day, past=day < today) if one.label == one.first.isoformat() else one
    )


@lru_cache(maxsize=8)
def _years(turn: str, today: date) -> Mapping[int, set[int]]:
    """Return the years that a turn states for each month. Cached, because each statement of the turn asks."""
    years: dict[int, set[int]] = {}
    for one in mentions(turn, today):
        if _states_year(turn, one):
            years.setdefault(one.first.month, set()).add(one.first.year)
    return years


def _states_year(text: str, one: Mention) -> bool:
    return str(one.first.year) in _words(text, one)


def _words(text: str, one: Mention) -> str:
    return text[one.start : one.end]
