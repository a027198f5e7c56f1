"""Compare the numbers, times and dates of two statements by value: "90 minutes" equals "1.5 hours".

Two statements with different values are never merged. A value counts as equal if the spelling alone differs: 15:00
and "three", $45 and "45 dollars", 3 March and 2024-03-03, "table 5" and "the fifth table".
"""

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from slowwave_server.domain.similarity.stopwords import CURRENCIES, DEGREES, ORDINALS
from slowwave_server.domain.similarity.tokens import Token

_SIGNS = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}
_MONEY = {"usd": "dollar", "eur": "euro", "gbp": "pound", "quid": "pound", "buck": "dollar"}
_SHARES = {"percent": "%", "pct": "%"}
_DAY = 86_400.0
_SCALES: dict[str, tuple[str, float]] = {
    "millisecond": ("time", 0.001), "second": ("time", 1.0), "sec": ("time", 1.0), "minute": ("time", 60.0),
    "min": ("time", 60.0), "hour": ("time", 3600.0), "hr": ("time", 3600.0), "h": ("time", 3600.0),
    "day": ("time", _DAY), "d": ("time", _DAY), "week": ("time", 7 * _DAY), "wk": ("time", 7 * _DAY),
    "fortnight": ("time", 14 * _DAY),
    "month": ("time", 30.4375 * _DAY), "mo": ("time", 30.4375 * _DAY), "year": ("time", 365.25 * _DAY),
    "yr": ("time", 365.25 * _DAY), "decade": ("time", 3652.5 * _DAY),
    "millimeter": ("length", 0.001), "centimeter": ("length", 0.01), "meter": ("length", 1.0), "m": ("length", 1.0),
    "kilometer": ("length", 1000.0), "inch": ("length", 0.0254), "foot": ("length", 0.3048),
    "yard": ("length", 0.9144), "mile": ("length", 1609.344),
    "gram": ("mass", 0.001), "g": ("mass", 0.001), "kilogram": ("mass", 1.0), "kilo": ("mass", 1.0),
    "tonne": ("mass", 1000.0), "pound": ("mass", 0.45359237), "lb": ("mass", 0.45359237),
    "ounce": ("mass", 0.028349523), "stone": ("mass", 6.35029318),
    "square meter": ("area", 1.0), "square foot": ("area", 0.09290304),
    "kilobyte": ("data", 1e3), "megabyte": ("data", 1e6), "gigabyte": ("data", 1e9), "terabyte": ("data", 1e12),
    "kb": ("data", 1e3), "mb": ("data", 1e6), "gb": ("data", 1e9), "tb": ("data", 1e12),
}  # fmt: skip
_UNITS = (
    {unit: unit for unit in _SCALES}
    | {f"{unit}s": unit for unit in _SCALES if len(unit) > 1}
    | {"feet": "foot", "inches": "inch", "square meters": "square meter", "square feet": "square foot"}
)
_IMPERIAL = frozenset({"inch", "foot", "yard", "mile", "pound", "lb", "ounce", "stone", "square foot"})
_ROUNDED = 0.03
"""The greatest difference, as a share, of two measures of which one is metric and the other is not."""
_EXACT = 1e-6
_METRE = re.compile(r"metre|mètre|metro(?=s?$)")
_NOON = 12
_PARTS = {
    word: part for part, word in enumerate("third quarter fifth sixth seventh eighth ninth tenth".split(), start=3)
}
_WHOLES = frozenset({"5", "10", "100"})
_QUARTER = 4


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, a time of day or a date. unit: the word after a number, its currency, or "%"; "." for an ordinal.

    open: True for a time of day that may be in the morning or in the evening, and for an ordinal that may be an adverb.
    """

    kind: str
    text: str
    number: float | None
    unit: str
    open: bool = False


def values_differ(a: Sequence[Token], b: Sequence[Token]) -> bool:
    """Return True if each statement gives a number, a time or a date that the other one does not give."""
    return all(values_apart(a, b))


def values_apart(a: Sequence[Token], b: Sequence[Token]) -> tuple[int, int]:
    """Return how many values only the first statement gives, and how many only the second one gives.

    Each value counts once: "March 28th (2027-03-28)" and "March 28th (2027-03-29)" differ.
    """
    mine, its = list(_amounts(tuple(a))), list(_amounts(tuple(b)))
    for equal in (operator.eq, _equal):
        for one in tuple(mine):
            other = next((other for other in its if equal(one, other)), None)
            if other is not None:
                mine.remove(one)
                its.remove(other)
    return len(_beside(mine, its)), len(_beside(its, mine))


def _beside(mine: Sequence[Amount], its: Sequence[Amount]) -> list[Amount]:
    """Return the values without "first" of an adverb, unless the other statement gives another rank."""
    ranked = any(one.unit == "." for one in its)
    return [one for one in mine if ranked or one.kind != "number" or not one.open]


def identifiers_of(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the words with digits in them, such as hosts and versions: "pg-rep-04", "v2"."""
    return frozenset(
        token.lower for token in tokens if token.kind in {"word", "name"} and any(map(str.isdigit, token.lower))
    )


def unit_of(said: str, behind: Sequence[Token]) -> str:
    """Return what a number measures: "time", "mass", a currency, "%", or the word after it; "" if none follows."""
    if behind and behind[0].kind not in {"word", "name"}:
        behind = ()
    unit = _number(said, behind).unit
    return _SCALES[unit][0] if unit in _SCALES else _SHARES.get(unit, unit)


def are_one_measure(a: Sequence[Token], b: Sequence[Token]) -> bool:
    """Return True if both texts give one measure, and it is the same in another unit: "80 kg", "176 pounds"."""
    mine, its = _amounts(tuple(a)), _amounts(tuple(b))
    if len(mine) != 1 or len(its) != 1 or not {mine[0].unit, its[0].unit} <= _SCALES.keys():
        return False
    return mine[0].unit != its[0].unit and _equal(mine[0], its[0])


@lru_cache(4096)
def _amounts(tokens: tuple[Token, ...]) -> tuple[Amount, ...]:
    found: list[Amount] = []
    for at, token in enumerate(tokens):
        before, behind = tokens[at - 1 : at] if at else (), tokens[at + 1 : at + 3]
        if (share := _share(tokens, at)) is not None:
            if found and found[-1].text == share.text:
                found.pop()
            found.append(replace(share, text=""))
        elif token.kind == "number":
            one = replace(_number(token.lemma, behind), open=_is_adverb(token, behind))
            coded = before and before[0].lower in CURRENCIES
            found.append(replace(one, unit=before[0].lemma) if coded else one)
        elif token.lower in {"one", "a", "an"} and _counts_one(token, behind):
            found.append(_number("1", behind))
        elif token.kind == "time":
            hour = token.lower.partition(":")[0]
            is_open = not token.lower.endswith(("m", "m.")) and not hour.startswith("0") and int(hour) <= _NOON
            found.append(Amount("time", token.lemma, None, "", is_open))
        elif token.kind == "date":
            found.append(Amount("date", token.lemma, None, ""))
    return tuple(found)


def _is_adverb(token: Token, behind: Sequence[Token]) -> bool:
    """Return True for "first" without a noun behind it: "wake her first"."""
    return token.lower in ORDINALS and not (behind and behind[0].carries_content)


def _share(tokens: Sequence[Token], at: int) -> Amount | None:
    """Return the share that ends at a token: "three fifths", "a fifth of", "8 in 10". Its text is the counted part."""
    token, before, behind = tokens[at], tokens[max(0, at - 3) : at], tokens[at + 1 : at + 2]
    if not before:
        return None
    part = _PARTS.get(token.lower.removesuffix("s"))
    if part and ((token.lower.endswith("s") and part != _QUARTER) or (behind and behind[0].lower == "of")):
        counted = before[-1]
    elif token.lemma in _WHOLES and [one.lower for one in before[-2:]] == ["out", "of"]:
        part, counted = int(token.lemma), before[0]
    elif token.lemma in _WHOLES and before[-1].lower == "in" and len(before) > 1:
        part, counted = int(token.lemma), before[-2]
    else:
        return None
    number = "1" if counted.lower in {"a", "an", "one"} else counted.lemma
    return Amount("number", number, 100 * int(number) / part, "%") if number.isdigit() and int(number) < part else None


def _counts_one(token: Token, behind: Sequence[Token]) -> bool:
    """Return True for "one bag" and "an hour", but not for "a bag"."""
    if not behind or behind[0].kind != "word":
        return False
    return token.lower == "one" or _SCALES.get(_unit(behind), ("", 0))[0] == "time"


def _number(said: str, behind: Sequence[Token]) -> Amount:
    digits, unit = said.lstrip("$€£¥").rstrip("%"), ""
    if said[0] in _SIGNS:
        unit = _SIGNS[said[0]]
    elif said.endswith("%"):
        unit = "%"
    elif said.endswith("."):
        digits, unit = digits.rstrip("."), "."
    elif behind:
        unit = _unit(behind)
    try:
        number = float(digits)
        if unit == "fahrenheit":
            return Amount("number", said, (number - 32) / 1.8, "celsius")
        return Amount("number", said, number, unit)
    except ValueError:  # a version
        return Amount("number", said, None, unit)


def _unit(behind: Sequence[Token]) -> str:
    """Return the unit after a number in one spelling, or the word after it."""
    lower, last = behind[0].lower, behind[-1]
    if lower == "square" and len(behind) > 1:
        lower = f"square {last.lower}"
    if behind[0].lemma == "degree" and last.lemma in DEGREES.values():
        return last.lemma
    if lower in _SHARES or (lower, last.lower) == ("per", "cent"):
        return "%"
    lower = _METRE.sub("meter", lower)
    return _UNITS.get(lower) or _MONEY.get(behind[0].lemma, behind[0].lemma)


def _equal(one: Amount, other: Amount) -> bool:
    if one.kind == other.kind:
        if one.kind == "number":
            return _equal_numbers(one, other)
        if one.kind == "time":
            return _same_clock(one, other)
        first, second = one.text, other.text
        return any(x.endswith(y) or x.startswith(y) for x, y in ((first, second), (second, first)))
    for number, moment in ((one, other), (other, one)):
        if number.kind == "number" and moment.kind != "number":
            return number.number is not None and _fits(number.number, number.unit, moment)
    return False


def _equal_numbers(one: Amount, other: Amount) -> bool:
    if one.number is None or other.number is None:
        return one.text == other.text
    same = abs(one.number - other.number) <= _EXACT * max(abs(one.number), abs(other.number))
    if "%" in {one.unit, other.unit} or {one.unit, other.unit} <= {*_SIGNS.values()}:
        return same and one.unit == other.unit
    mine, its = _SCALES.get(one.unit), _SCALES.get(other.unit)
    if mine is None or its is None:
        return same
    if mine[0] != its[0]:
        return False
    first, second = one.number * mine[1], other.number * its[1]
    most = _ROUNDED if (one.unit in _IMPERIAL) != (other.unit in _IMPERIAL) else _EXACT
    return abs(first - second) <= most * max(abs(first), abs(second))


def _same_clock(one: Amount, other: Amount) -> bool:
    if one.text == other.text:
        return True
    (hour, minutes), (its_hour, its_minutes) = (clock.text.split(":") for clock in (one, other))
    later = one if int(hour) > int(its_hour) else other
    earlier = other if later is one else one
    return minutes == its_minutes and abs(int(hour) - int(its_hour)) == _NOON and earlier.open


def _fits(number: float, unit: str, moment: Amount) -> bool:
    """Return True if a bare number may be the hour, the day or the month of `moment`."""
    if unit in _SCALES or unit == "%" or not number.is_integer():
        return False
    if moment.kind == "time":
        hour, minutes = moment.text.split(":")
        return minutes == "00" and int(number) in {int(hour), (int(hour) - 1) % _NOON + 1}
    parts = moment.text.split("-")
    return len(parts) > 1 and any(part.isdigit() and int(part) == int(number) for part in parts[-2:])
