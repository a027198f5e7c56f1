"""Load the rules for languages other than English: one data file per language, and the weight of every signal.

A phrase of a data file is plain text with these marks:

    *        the rest of a word: "Mutter*"
    …        up to 50 characters: "ich habe … gebucht"
    #        a number
    (a|b)    one of several; (a|) is optional
    ^ and $  start and end of a sentence

Case does not matter. If people often write a language without its accents, accents do not matter in words of five
letters or more.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

CODES = ("de", "es", "fr", "it", "ja", "nl", "pt", "zh")
"""The languages with a data file, by ISO 639-1."""
_PARTS = re.compile(
    r"(?P<gap>\s*…\s*)|(?P<rest>\*)|(?P<number>#)|(?P<mark>[()|^$])|(?P<space>\s+)|(?P<word>[^…*#()|^$\s]+)"
)
_MARKS = {"(": "(?:", ")": ")", "|": "|", "^": "^", "$": r"\W*$"}
_LEAST_ACCENTED = 5
"""Minimum letters of a word whose accents are optional: in Portuguese, "e" and "é" differ, "amanha" is unambiguous."""


@dataclass(frozen=True, slots=True)
class Weight:
    """The effect of a signal on the keep score, on the importance, and on the type of the memory."""

    keep: float
    importance: float = 0.0
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the signals in all languages; their order decides the type of a memory.

    topics: signals of which the best counts in full and the second one by half.
    """

    threshold: float
    importance: float
    signals: Mapping[str, Weight]
    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class Language:
    """A language as described by its data file.

    Attributes:
        spaced: True if spaces separate words.
        ordinal_dot: True if "3." is a number in a date.
        capital_names: True if only names have a capital inside a sentence.
        implied_self: True if a sentence without a subject is about its speaker.
        loose_accents: True if people often omit accents.
    """

    code: str
    name: str
    spaced: bool
    ordinal_dot: bool
    capital_names: bool
    implied_self: bool
    loose_accents: bool
    abbreviations: frozenset[str]
    signals: Mapping[str, re.Pattern[str]]
    dates: Mapping[str, Any]

    def has(self, signal: str, low: str) -> bool:
        """Return True if a signal fires in a lower-case text."""
        return self.signals[signal].search(low) is not None


@cache
def language(code: str) -> Language | None:
    """Return the language of an ISO 639-1 code; None if it has no data file."""
    if code not in CODES:
        return None
    data = _load(f"{code}.json")
    spaced, loose = data["spaced"], data["loose_accents"]
    return Language(
        code=code,
        name=data["name"],
        spaced=spaced,
        ordinal_dot=data["ordinal_dot"],
        capital_names=data["capital_names"],
        implied_self=data["implied_self"],
        loose_accents=data["loose_accents"],
        abbreviations=frozenset(data["abbreviations"].split()),
        signals={
            name: re.compile(whole([*told["words"].split(), *told["phrases"]], spaced=spaced, loose=loose))
            for name, told in data["signals"].items()
        },
        dates=data["dates"],
    )


@cache
def weights() -> Weights:
    """Load the weights of the signals."""
    data = _load("weights.json")
    return Weights(
        threshold=data["threshold"],
        importance=data["importance"],
        signals={name: Weight(**one) for name, one in data["signals"].items()},
        topics=frozenset(data["topics"].split()),
    )


def whole(phrases: list[str], *, spaced: bool, loose: bool) -> str:
    """Return a regular expression for any of the phrases; in a language with spaces it matches whole words."""
    if not phrases:
        return r"(?!)"
    either = "|".join(
        sorted((expression(phrase, spaced=spaced, loose=loose) for phrase in phrases), key=len, reverse=True)
    )
    return rf"(?<!\w)(?:{either})(?!\w)" if spaced else f"(?:{either})"


def expression(phrase: str, *, spaced: bool, loose: bool) -> str:
    """Return the regular expression of one phrase. Every repetition in it is bounded."""
    gap = r"(?:(?<=\W)|\W)(?:.{0,50}?\W)?" if spaced else r".{0,25}?"
    found = []
    for match in _PARTS.finditer(phrase.strip().lower()):
        kind, text = match.lastgroup, match.group()
        if kind == "word":
            found.append("".join(_letter(one, loose=loose and len(text) >= _LEAST_ACCENTED) for one in text))
        elif kind == "mark":
            found.append(_MARKS[text])
        else:
            found.append(
                {"gap": gap, "rest": r"\w{0,20}", "number": r"\d{1,12}", "space": r"\s?" if not spaced else " "}[
                    kind or ""
                ]
            )
    return "".join(found)


def _letter(letter: str, *, loose: bool) -> str:
    plain = unicodedata.normalize("NFD", letter)[0]
    return f"[{letter}{plain}]" if loose and plain != letter and plain.isascii() else re.escape(letter)


def _load(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((files(__package__ or "") / name).read_text("utf-8"))
    return loaded
