"""Detect which older instruction a newer one replaces: an older one on the same matter.

Two instructions are on the same matter if they differ only in a value of one class (a language, a weekday, a number,
units, a format, a length), or if one demands exactly what the other prohibits. An exception ("not on invoices") and an
additional instruction replace nothing.
"""

import re

from slowwave_server.domain.endings.words import distinctive, stems
from slowwave_server.domain.similarity.lexicon import stem

_PROHIBITS = re.compile(
    r"\b(?:never|don't|do not|not|no|avoid|stop|without|refrain|mustn't|skip|omit|leave out|no longer)\b", re.IGNORECASE
)
_STOPS = re.compile(
    r"^(?:please |now |just )*(?:stop|quit|no longer|(?:do not|don't|no need to)\b.*\b(?:any ?more|any longer))\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"\b(?:instead of|rather than)\b", re.IGNORECASE)
_IN_PLACE = re.compile(r"\b(?:instead of|rather than) (?P<old>[^,;.!?]{2,60})", re.IGNORECASE)
_QUOTED = re.compile(r"\([^)]*\)")

_CLASSES: dict[str, tuple[str, ...]] = {
    "language": tuple(
        "english german french spanish italian portuguese dutch polish swedish danish norwegian finnish greek russian "
        "ukrainian turkish arabic hebrew hindi chinese mandarin japanese korean vietnamese thai indonesian".split()
    ),
    "weekday": tuple("monday tuesday wednesday thursday friday saturday sunday".split()),
    "frequency": tuple("daily weekly monthly hourly quarterly yearly biweekly".split()),
    "units": tuple("metric imperial".split()),
    "degrees": tuple("celsius fahrenheit".split()),
    "currency": tuple("dollars euros pounds yen usd eur gbp jpy chf".split()),
    "format": tuple("markdown html json yaml csv bullets bullet table prose paragraphs plain".split()),
    "spelling": tuple("british american".split()),
    "clock": ("12-hour", "24-hour"),
}
_GROUPS: dict[str, dict[str, tuple[str, ...]]] = {
    "length": {
        "short": tuple("short brief concise shorter briefly terse succinct".split()),
        "long": tuple("long detailed longer verbose lengthy thorough".split()),
    },
    "tone": {
        "formal": tuple("formal formally".split()),
        "informal": tuple("informal casual informally casually relaxed".split()),
    },
}
_VALUES: dict[str, tuple[str, str]] = {
    stem(word): (name, stem(word)) for name, words in _CLASSES.items() for word in words
} | {stem(word): (name, value) for name, groups in _GROUPS.items() for value, words in groups.items() for word in words}
_ANSWERING = frozenset(stem(word) for word in "answer reply respond write speak talk answers replies message".split())
_CALLED = re.compile(r"\b(?:call|address|refer to) me (?:as |by )?(?P<name>[\w'. -]{2,30})", re.IGNORECASE)
_NUMBER = re.compile(r"^\d[\d.,:]*$")


def prohibits(body: str) -> bool:
    """Return True if an instruction is a prohibition."""
    return _PROHIBITS.search(body) is not None


def replaces(newer: str, older: str) -> str | None:
    """Return why an instruction replaces an older one of the same person, or None. Both lack "… instructs:"."""
    if stems(newer) == stems(older) and prohibits(newer) == prohibits(older):
        return None
    instead = _IN_PLACE.search(newer)
    if instead is not None and not prohibits(older) and _INSTEAD.search(older) is None:
        old = distinctive(instead["old"])
        if old and old <= distinctive(older):
            return "a newer instruction names what comes in its place"
    if prohibits(newer) != prohibits(older):
        return _turns_round(newer, older)
    one, other = _CALLED.search(newer), _CALLED.search(older)
    if one is not None and other is not None:
        return None if one["name"].casefold() == other["name"].casefold() else "a newer way to call the person"
    return _another_value(newer, older)


def _turns_round(newer: str, older: str) -> str | None:
    """Compare a demand and a prohibition: "stop X" ends every demand with X; otherwise the words must be equal."""
    said, was = distinctive(_without_stop(newer)), distinctive(older)
    if not said or _INSTEAD.search(newer) or _INSTEAD.search(older):
        return None
    if _STOPS.search(newer) is not None and said <= was:
        return "a newer instruction stops it"
    return "a newer instruction says the opposite" if said == was else None


def _without_stop(body: str) -> str:
    return re.sub(r"\b(?:any ?more|any longer|from now on|ever)\b", " ", _STOPS.sub(" ", body), flags=re.IGNORECASE)


def _another_value(newer: str, older: str) -> str | None:
    """Return the reason if both have the same frame with different values of one class, else None."""
    one, values = _frame(newer)
    other, were = _frame(older)
    if not values or one != other or set(values) != set(were):
        return None
    changed = [name for name in values if values[name].isdisjoint(were[name])]
    return f"a newer instruction names another {changed[0]}" if changed else None


def _frame(body: str) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    """Return the words of an instruction without its values, and the values by class."""
    values: dict[str, set[str]] = {}
    frame: set[str] = set()
    for one in stems(_QUOTED.sub(" ", body)):
        name, value = _VALUES.get(one, ("number", one) if _NUMBER.match(one) else ("", one))
        if name:
            values.setdefault(name, set()).add(value)
        elif one in _ANSWERING:
            frame.add("answer")
        else:
            frame.add(one)
    named = distinctive(" ".join(frame))
    return (
        frozenset(one for one in frame if one in named or one == "answer") | frozenset(values),
        {name: frozenset(of) for name, of in values.items()},
    )
