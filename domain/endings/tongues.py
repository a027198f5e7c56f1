"""Compare instructions in other languages: patterns that lift or prohibit, and the words that identify an instruction.

The words of a text are its words without function words, cut to five letters and without accents; in a script without
spaces, its characters. These words suffice to find the one instruction that a sentence names. The patterns are data:
`tongues.json`.
"""

import json
import re
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

STEM = 5
_WORD = re.compile(r"[a-z\d]{1,4}(?:[.-](?:[a-z]{2,4}|\d+))+(?!\w)|[^\W_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_CODE = re.compile(r"^(?=\D*\d)[\w.-]+$|^([a-z])\1+(?:[.-]([a-z])\2+)+$")
"""A number, an identifier, a format such as TT.MM.JJJJ."""


class Lift(NamedTuple):
    """The instruction that a sentence lifts. direction: see `patterns.LIFTS`."""

    what: str
    direction: str


def lift(sentence: str) -> Lift | None:
    """Return the instruction that a sentence in another language lifts, or None."""
    if _pattern("uncertain").search(sentence) is not None:
        return None
    for direction, pattern in _lifts():
        match = pattern.search(sentence)
        if match is None:
            continue
        what = match["what"] + (match.groupdict().get("verb") or "")
        if words(what):
            return Lift(what.strip(), direction)
    return None


def prohibits(body: str) -> bool:
    """Return True if an instruction is a prohibition."""
    return _pattern("prohibits").search(body) is not None


def words(text: str) -> frozenset[str]:
    """Return the words that identify an instruction."""
    return frozenset(_stems(text)) - _list("generic")


def replaces(newer: str, older: str) -> str | None:
    """Return the reason why an instruction replaces an older one, or None."""
    said, was = frozenset(_stems(newer)), frozenset(_stems(older))
    if said == was and prohibits(newer) == prohibits(older):
        return None
    if _pattern("called").search(newer) is not None and _pattern("called").search(older) is not None:
        return "a newer way to call the person"
    if prohibits(newer) != prohibits(older):
        return "a newer instruction says the opposite" if words(newer) == words(older) != frozenset() else None
    instead = _pattern("instead").search(newer)
    old = words(next(filter(None, instead.groups()))) if instead is not None else frozenset()
    if old and old <= was and not prohibits(older) and _pattern("instead").search(older) is None:
        return "a newer instruction names what comes in its place"
    one, other = _values(newer), _values(older)
    frames = [words(_framed(text)) for text in (newer, older)]
    if not one or set(one) != set(other) or one == other or frames[0] != frames[1]:
        return None
    return f"a newer instruction names another {next(name for name in one if one[name] != other[name])}"


def _stems(text: str) -> list[str]:
    plain = _plain(text)
    characters = [one for one in _CJK.findall(text) if one not in _data()["stop_zh"]]
    found = [word for word in _WORD.findall(_CJK.sub(" ", plain)) if word not in _list("stop")]
    long = [word for word in found if len(word) > 1 or word.isdigit()]
    return [*characters, *(word if _CODE.match(word) else word[:STEM] for word in long)]


def _values(text: str) -> dict[str, frozenset[str]]:
    """Return the values in an instruction, by class."""
    found: dict[str, set[str]] = {}
    for name, value in _value_words(text):
        found.setdefault(name, set()).add(value)
    return {name: frozenset(values) for name, values in found.items()}


def _framed(text: str) -> str:
    """Return the text without its values, and without words that only express their change."""
    for _, value in _value_words(text):
        text = re.sub(re.escape(value), " ", _plain(text))
    return text.replace("改", " ")


def _value_words(text: str) -> list[tuple[str, str]]:
    plain = _plain(text)
    known = [
        (name.removesuffix("_zh"), value)
        for name in _data()["values"]
        for value in sorted(_plain(_data()["values"][name]).split(), key=len, reverse=True)
        if (value in plain if name.endswith("_zh") else re.search(rf"\b{value}\b", plain))
    ]
    codes = [("number" if word.isdigit() else "code", word) for word in _WORD.findall(plain) if _CODE.match(word)]
    return [*known, *codes]


def _plain(text: str) -> str:
    """Return the text in lower case, without accents."""
    spread = unicodedata.normalize("NFD", text.casefold())
    return unicodedata.normalize("NFC", "".join(one for one in spread if not unicodedata.combining(one)))


@cache
def _lifts() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((direction, re.compile(pattern, re.IGNORECASE)) for direction, pattern in _data()["lifts"])


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(_data()[name], re.IGNORECASE)


@cache
def _list(name: str) -> frozenset[str]:
    words_ = _plain(_data()[name]).split()
    return frozenset(words_) | frozenset(word[:STEM] for word in words_ if name == "generic")


@cache
def _data() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((files(__package__ or "") / "tongues.json").read_text("utf-8"))
    return loaded
