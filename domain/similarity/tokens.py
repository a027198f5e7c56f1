"""A text as tokens: words with their stems, numbers, times and dates in one spelling each, names, negators.

Must not know: grammar, and any second text.
"""

import re
from dataclasses import dataclass
from typing import Literal

from domain.similarity.lexicon import is_common_word, lemma
from domain.similarity.stopwords import FUNCTION_WORDS, NEGATORS, NUMBERS, ORDINALS, PREPOSITIONS, TITLES, UNITS

Kind = Literal["word", "name", "number", "date", "time", "function", "preposition", "negator", "possessive"]


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text. lemma: its dictionary form or, of numbers, times and dates, the one spelling of its value."""

    text: str
    lemma: str
    kind: Kind

    @property
    def carries_content(self) -> bool:
        """Whether it says something by itself: no article, auxiliary, preposition or negator."""
        return self.kind in _CONTENT


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
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_PATTERN = re.compile(
    rf"(?P<iso>\b\d{{4}}-\d{{2}}-\d{{2}}\b)"
    rf"|(?P<clock>\b\d{{1,2}}:\d{{2}}\b)(?:\s?(?P<half>[ap])\.?m\b\.?)?"
    rf"|\b(?P<hour>\d{{1,2}})\s?(?P<noon>[ap])\.?m\b\.?"
    rf"|\b(?P<m1>{_MONTH})\.? (?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m2>{_MONTH})\b"
    r"|(?P<money>[$€£¥])\s?(?P<sum>\d[\d,]*(?:\.\d+)?)\s?(?P<scale>k|m|bn|b|million|thousand|billion)?\b"
    r"|(?P<number>\b\d[\d,]*(?:\.\d+)*)(?P<percent>\s?%)?(?P<suffix>st|nd|rd|th|k|m|bn|gb|mb|tb|kb|km|kg|cm|mm|ms|s|x)?"
    r"(?![\w])"
    r"|(?P<word>[^\W_](?:[\w.&+#/-]*[\w+#])?(?:'(?!s\b)\w+)?)(?P<owner>'s?(?![\w]))?",
    re.IGNORECASE,
)
_CONTRACTED = re.compile(r"(?i)\b(\w+)n't\b")
_SCALES = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9,
}  # fmt: skip
_WHOLE = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}
_NOON = 12


def tokenise(text: str) -> tuple[Token, ...]:
    """The tokens of `text` in their order."""
    spread = _CONTRACTED.sub(lambda found: f"{_WHOLE.get(found[1].lower(), found[1])} not", text)
    tokens: list[Token] = []
    for found in _PATTERN.finditer(spread):
        tokens.extend(_token(found, opens=not tokens))
    return tuple(tokens)


def _token(found: re.Match[str], *, opens: bool) -> list[Token]:
    text = found.group()
    if found["word"] is not None:
        return _word(found["word"], found["owner"], opens=opens)
    if found["iso"]:
        return [Token(text, text, "date")]
    if found["m1"] or found["m2"]:
        month, day = found["m1"] or found["m2"], found["d1"] or found["d2"]
        return [Token(text, f"{_MONTHS[month.lower()]}-{int(day):02d}", "date")]
    if found["clock"] or found["hour"]:
        return [Token(text, _clock(found), "time")]
    if found["money"]:
        return [Token(text, f"{found['money']}{_plain(found['sum'], found['scale'])}", "number")]
    suffix = (found["suffix"] or "").lower()
    if found["percent"]:
        return [Token(text, f"{_plain(found['number'], None)}%", "number")]
    if suffix in _SCALES:
        return [Token(text, _plain(found["number"], suffix), "number")]
    value = Token(text, _plain(found["number"], None), "number")
    return [value, Token(suffix, UNITS.get(suffix, suffix), "word")] if suffix in UNITS else [value]


def _clock(found: re.Match[str]) -> str:
    hours, _, minutes = (found["clock"] or found["hour"]).partition(":")
    half = (found["half"] or found["noon"] or "").lower()
    hour = int(hours)
    if half:
        hour = hour % _NOON + (_NOON if half == "p" else 0)
    return f"{hour:02d}:{minutes or '00'}"


def _plain(digits: str, scale: str | None) -> str:
    plain = digits.replace(",", "").rstrip(".")
    if plain.count(".") > 1:  # a version
        return plain
    return f"{float(plain) * _SCALES.get((scale or '').lower(), 1):g}" if len(plain) < 16 else plain


def _word(word: str, owner: str | None, *, opens: bool) -> list[Token]:
    lower = word.lower()
    tokens: list[Token] = []
    if lower in NEGATORS:
        tokens.append(Token(word, lower, "negator"))
    elif lower in NUMBERS or lower in ORDINALS:
        tokens.append(Token(word, NUMBERS.get(lower) or ORDINALS[lower], "number"))
    elif lower in PREPOSITIONS:
        tokens.append(Token(word, lower, "preposition"))
    elif lower in FUNCTION_WORDS or lower.rstrip(".") in TITLES:
        tokens.append(Token(word, lower, "function"))
    elif lower in _MONTHS and word[0].isupper() and lower != "may":
        tokens.append(Token(word, _MONTHS[lower] + "-", "date"))
    elif word[0].isupper() and (not opens or not is_common_word(lower)):
        tokens.append(Token(word, lower, "name"))
    else:
        tokens.append(Token(word, lemma(lower), "word"))
    if owner:
        tokens.append(Token(owner, "'s", "possessive"))
    return tokens
