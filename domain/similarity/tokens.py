"""Split a text into tokens: words with their stems, numbers, times and dates in one spelling each, names, negators."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from slowwave_server.domain.similarity.lexicon import is_common_word, lemma, stem
from slowwave_server.domain.similarity.stopwords import (
    CURRENCIES,
    DEGREES,
    FUNCTION_WORDS,
    MEASURES,
    NEGATORS,
    NUMBERS,
    OPENERS_ELSEWHERE,
    ORDINALS,
    PREPOSITIONS,
    TITLES,
    UNITS,
)

Kind = Literal["word", "name", "number", "date", "time", "function", "preposition", "negator", "possessive"]

_CONTENT = frozenset({"word", "name", "number", "date", "time"})
_MONTHS = {
    name: f"{number:02d}"
    for number, names in enumerate(
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct|"
        "november nov|december dec".split("|"),
        start=1,
    )
    for name in names.split()
}
_WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
_SHORT_WEEKDAYS = {
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday", "thur": "thursday",
    "thurs": "thursday", "fri": "friday",
}  # fmt: skip
"""With a capital letter; "Sat" and "Sun" are also words."""
_ALSO_WORDS = frozenset("may march mar sep jan".split())  # "May I", "Jan lives in …"
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_UNIT = "|".join(sorted(UNITS, key=len, reverse=True))
_PATTERN = re.compile(
    rf"(?P<iso>\b\d{{4}}-\d{{1,2}}-\d{{1,2}}\b)"
    rf"|(?P<clock>\b\d{{1,2}}:\d{{2}})(?:\s?(?P<half>[ap])\.?m\b\.?)?"
    rf"|\b(?P<hour>\d{{1,2}})\s?(?P<noon>[ap])\.?m\b\.?"
    rf"|\b(?=[jfmasond])(?P<m1>{_MONTH})\.? (?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m2>{_MONTH})\b"
    r"|(?P<money>[$€£¥])\s?(?P<sum>\d[\d,]*(?:\.\d+)?)\s?(?P<scale>k|m|bn|b|million|thousand|billion)?\b"
    rf"|(?P<number>\b\d[\d,]*(?:\.\d+)*)"
    rf"(?:(?P<percent>\s?%)|\s?[°º]\s?(?P<degree>[cf])\b|\s(?P<bytes>[kmgt]b)\b|"
    rf"(?P<suffix>st|nd|rd|th|k|m|bn|{_UNIT})?\b)"
    r"|(?P<word>[^\W_](?:[\w.&+#/-]*[\w+#])?(?:'(?!s\b)\w+)?)(?P<owner>'s?(?!\w))?",
    re.IGNORECASE,
)
_CONTRACTED = re.compile(r"(?i)\b(\w+)n't\b")
_CONTRACTION = re.compile(r"'(?:m|re|ve|d|ll)\Z")
_WHOLE = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9}
_ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
_NOON = 12
_LENGTH_OF_UNITS = 2  # "kg" is always a unit, "s" and "x" may be words; "Ms" is a title
_EXACT_DIGITS = 15
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d{1,2}\Z)")
_QUOTED = frozenset((': "', ": \N{LEFT DOUBLE QUOTATION MARK}"))
_OPENING = 3
"""Characters before the first word of a sentence, which show that it is the first: its capital makes no name."""
_SENTENCE_END = re.compile(r"(?:\w[.!?]|[.!?][\"')\]\N{RIGHT DOUBLE QUOTATION MARK}])\s\Z")


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text. lemma: its dictionary form or, for numbers, times and dates, the standard spelling of its
    value.

    stem: its form in comparisons: the stem of a word, the lemma of any other token. lower: the text in lower case.
    """

    text: str
    lemma: str
    kind: Kind
    stem: str
    lower: str

    @property
    def carries_content(self) -> bool:
        """Return True if it has meaning alone: it is not an article, auxiliary, preposition or negator."""
        return self.kind in _CONTENT


@lru_cache(8192)  # the readers of a statement's claims and of its clauses tokenise the same words
def tokenise(text: str) -> tuple[Token, ...]:
    """Return the tokens of `text` in order."""
    tokens: list[Token] = []
    plain = uncontracted(text)
    for found in _PATTERN.finditer(plain):
        opens = not tokens or _opens(plain[max(0, found.start() - _OPENING) : found.start()], tokens[-1])
        tokens.extend(_tokens(found, opens=opens))
    return tuple(tokens)


def _opens(before: str, last: Token) -> bool:
    """Return True if a word opens a sentence. before: the characters before it; last: the token before it."""
    ended = len(before) == _OPENING and _SENTENCE_END.search(before) is not None
    return before in _QUOTED or (ended and last.lower.rstrip(".") not in TITLES)


def uncontracted(text: str) -> str:
    """Return `text` with straight apostrophes, and "isn't" as "is not"."""
    straight = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return _CONTRACTED.sub(lambda found: f"{_WHOLE.get(found[1].lower(), found[1])} not", straight)


def _tokens(found: re.Match[str], *, opens: bool) -> list[Token]:
    if found["word"] is not None:
        return _word(found["word"], found["owner"], opens=opens)
    return next(read for groups, read in _READERS if any(found[group] for group in groups))(found)


def _value(text: str, lemma_: str, kind: Kind) -> list[Token]:
    return [Token(text, lemma_, kind, lemma_, text.lower())]


def _date(found: re.Match[str]) -> list[Token]:
    if found["iso"]:
        year, month, day = found["iso"].split("-")
        return _value(found.group(), f"{year}-{int(month):02d}-{int(day):02d}", "date")
    month, day = found["m1"] or found["m2"], found["d1"] or found["d2"]
    return _value(found.group(), f"{_MONTHS[month.lower()]}-{int(day):02d}", "date")


def _clock(found: re.Match[str]) -> list[Token]:
    hours, _, minutes = (found["clock"] or found["hour"]).partition(":")
    half = (found["half"] or found["noon"] or "").lower()
    hour = int(hours) % _NOON + (_NOON if half == "p" else 0) if half else int(hours)
    return _value(found.group(), f"{hour:02d}:{minutes or '00'}", "time")


def _money(found: re.Match[str]) -> list[Token]:
    return _value(found.group(), found["money"] + _plain(found["sum"], found["scale"] or ""), "number")


def _number(found: re.Match[str]) -> list[Token]:
    text, digits = found.group(), found["number"]
    suffix = (found["suffix"] or found["bytes"] or found["degree"] or "").lower()
    if found["percent"]:
        return _value(text, _plain(digits) + "%", "number")
    if suffix in _ORDINAL_ENDINGS:
        return _value(text, _plain(digits) + ".", "number")
    if suffix in UNITS or found["degree"]:
        unit = DEGREES[suffix] if found["degree"] else UNITS[suffix]
        return [*_value(digits, _plain(digits), "number"), Token(suffix, unit, "word", stem(unit), suffix)]
    return _value(text, _plain(digits, suffix), "date" if _YEAR.match(digits) and not suffix else "number")


_READERS: tuple[tuple[tuple[str, ...], Callable[[re.Match[str]], list[Token]]], ...] = (
    (("iso", "m1", "m2"), _date),
    (("clock", "hour"), _clock),
    (("money",), _money),
    (("number",), _number),
)


def _plain(digits: str, scale: str = "") -> str:
    plain = _DECIMAL_COMMA.sub(".", digits).replace(",", "").rstrip(".")
    if plain.count(".") > 1 or len(plain) > _EXACT_DIGITS:  # a version, an account
        return plain
    return f"{float(plain) * _SCALES.get(scale.lower(), 1):.15g}"


def _word(word: str, owner: str | None, *, opens: bool) -> list[Token]:
    tokens = [_remembered(word, opens) if word.isalpha() else _named(word, opens)]
    if owner:
        tokens.append(Token(owner, "'s", "possessive", "'s", owner))
    return tokens


def _is_function(word: str, lower: str, *, opens: bool) -> bool:
    if _CONTRACTION.sub("", lower) in FUNCTION_WORDS:
        return True
    return word[0].isupper() and (lower.rstrip(".") in TITLES or (opens and lower in OPENERS_ELSEWHERE))


def _named(word: str, opens: bool) -> Token:
    lower = word.lower()
    if (word.isupper() and lower in CURRENCIES) or lower in MEASURES:
        unit = CURRENCIES.get(lower) or MEASURES[lower]
        return Token(word, unit, "word", stem(unit), lower)
    kind, spelling = _kind(word, lower, opens=opens)
    if kind:
        return Token(word, spelling, kind, spelling, lower)
    base = lemma(UNITS.get(lower, lower) if len(lower) == _LENGTH_OF_UNITS and lower != "ms" else lower)
    return Token(word, base, "word", stem(base), lower)


_remembered = lru_cache(65_536)(_named)  # words repeat, numbers and identifiers rarely do


def _kind(word: str, lower: str, *, opens: bool) -> tuple[Kind | None, str]:
    """Return the kind and the spelling of a word; None for a plain word."""
    kind: Kind | None = None
    spelling = lower
    if lower in NEGATORS:
        kind = "negator"
    elif lower in NUMBERS or lower in ORDINALS:
        kind, spelling = "number", NUMBERS.get(lower) or ORDINALS[lower]
    elif lower in PREPOSITIONS:
        kind = "preposition"
    elif _is_function(word, lower, opens=opens):
        kind = "function"
    elif lower.rstrip("s") in _WEEKDAYS:
        kind, spelling = "date", lower.rstrip("s")
    elif word[0].isupper() and lower in _SHORT_WEEKDAYS:
        kind, spelling = "date", _SHORT_WEEKDAYS[lower]
    elif word[0].isupper() and lower in _MONTHS and lower not in _ALSO_WORDS:
        kind, spelling = "date", _MONTHS[lower] + "-"
    elif word[0].isupper() and (not opens or not is_common_word(lower)):
        kind = "name"
    return kind, spelling
