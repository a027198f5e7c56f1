"""Secrets without a fixed phrase: related words (a family) occur near a value whose form fits.

Examples are a code from an SMS, the code of a gate, the digits on the back of a card, a Wi-Fi key: people mention them
in any word order. A family counts how many of its word groups occur around a value; the form of the value decides how
many are needed. The words are in `context.json`, in small letters, of eight languages: `forms` gives the number of
groups for each form, a name of `FORMS`; a word of `strong` counts twice; with `must`, a word of the first group is
required.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from slowwave.lazy_patterns import lazy_pattern
from slowwave.redaction.announced import words_of
from slowwave.redaction.shapes import Found
from slowwave.redaction.values import DATE, UNIT, is_mixed
from slowwave.redaction.words import CJK, WORD

REACH = 64
"""Characters before and behind a value in which the words of its family count."""
VETO = 18
"""Characters in front of a value in which a word says that it is something else, such as an order's number."""
_STRONG = 2
_A = r"(?<![A-Za-z0-9_.,/$€£+-])(?<!\d:)"
_Z = r"(?![A-Za-z0-9_/-]|[.,:]\d|\s?[€$£%°])"
_CJK = lazy_pattern(rf"[{CJK}]")
_WORD = rf"[^\s\"'`(),:;=<>\ue000。、{CJK}]"
_YEAR = lazy_pattern(r"(?:19|20)\d\d")
_INNER = lazy_pattern(r"[!@#$%^&*+=?~_]")
_JOINED = lazy_pattern(r"[A-Z][a-z]+(?:_[A-Za-z0-9]+)+")
_NAME = lazy_pattern(
    r"[a-z]+(?:_[a-z0-9]+)+|[\w.+-]+@[\w-]+\.[\w.]+|[\w-]+(?:/[\w-]+)+|\$?[\d.,]+\w{0,3}[+-]?.*|[A-Z\d_]+|\w+[(\[].*"
)
"""Words that programs and prose form with signs: names, addresses, alternatives, amounts, constants, calls."""

FORMS: Mapping[str, re.Pattern[str]] = {
    "six": lazy_pattern(rf"{_A}(?:[A-Z]{{1,2}}-)?(?:\d{{6}}|\d{{3}}[ -]\d{{3}}|\d\d[ -]\d\d[ -]\d\d){_Z}"),
    "digits": lazy_pattern(rf"{_A}[#*]?(?:\d{{4,8}}|\d{{4}} \d{{4}}|\d\d[ -]\d\d)[#*]?{_Z}"),
    "four": lazy_pattern(rf"{_A}(?:\d{{4}}|\d\d \d\d){_Z}"),
    "three": lazy_pattern(rf"{_A}\d{{3}}{_Z}"),
    "short_mixed": lazy_pattern(rf"{_A}(?=\d{{0,6}}[A-Z])(?=[A-Z]{{0,2}}\d\d)[A-Z0-9]{{4,7}}{_Z}"),
    "swipe": lazy_pattern(r"(?<![\w-])\d(?:-\d){3,8}(?![\w-])"),
    "long_digits": lazy_pattern(rf"{_A}\d(?:[ -]?\d){{7,23}}{_Z}"),
    "passport": lazy_pattern(
        rf"{_A}(?:[A-Z]{{1,3}} ?\d{{6,8}}|\d{{2}}[A-Z]{{2}}\d{{5}}|\d\d ?\d\d \d{{6}}|\d{{8,9}}){_Z}"
    ),
    "card": lazy_pattern(rf"{_A}\d{{4}}(?:[ -]?\d{{4}}){{3}}(?:[ -]?\d{{1,3}})?{_Z}"),
    "spelled": lazy_pattern(r"(?<![^\W_])[^\W_](?P<s>[.·\-_*/])[^\W_](?:(?P=s)[^\W_]){3,40}(?![^\W_])"),
    "dashed": lazy_pattern(rf"{_WORD}{{3,20}}(?<=[a-z])(?:[-.][a-z0-9]{{2,12}}){{1,3}}(?<=\d)(?![\w-])"),
    "mixed": lazy_pattern(rf"{_WORD}{{6,60}}"),
    "strange": lazy_pattern(rf"{_WORD}{{7,60}}"),
}


_OF_WORDS = frozenset({"mixed", "strange", "dashed"})
_NUMBERS = frozenset({"six", "digits", "four", "three", "short_mixed", "long_digits"})
_QUIET = frozenset({"strange", "spelled"})
"""Forms of which a value may have no digit, but then a sign inside."""
_SIGN = lazy_pattern(r"[!@#$%^&*+=?~_]\S|\w[.·/-]\w[.·/-]\w")
_IN_WORD = lazy_pattern(_WORD)


class Family(NamedTuple):
    """A family: word groups that indicate one kind of secret, and the number that must occur near each form of the
    secret.

    groups, strong: sets of groups as bits. first: the bits of the groups of which one is required; 0: none.
    """

    kind: str
    groups: int
    strong: int
    first: int
    forms: Mapping[str, int]

    def score(self, there: int) -> int:
        """Count the groups that occur; a strong word counts twice."""
        if self.first and not self.first & there:
            return 0
        return (self.groups & there).bit_count() + (_STRONG if self.strong & there else 0)


_DATA = json.loads(files("slowwave.redaction").joinpath("context.json").read_text("utf-8"))
_BITS: dict[str, int] = defaultdict(int)
"""The groups in which each word stands."""


def _bit(words: str, place: int) -> int:
    for word in words.split():
        _BITS[word] |= 1 << place
    return 1 << place


_GROUPS = {name: _bit(told, place) for place, (name, told) in enumerate(_DATA["groups"].items())}
_VETO = _bit(_DATA["veto"]["before"], len(_GROUPS))


def _family(entry: dict[str, Any], place: int) -> Family:
    groups = [_GROUPS[name] for name in entry["groups"]]
    strong = _bit(entry["strong"], place)
    return Family(entry["kind"], sum(groups), strong, strong | groups[0] if entry.get("must") else 0, entry["forms"])


_FAMILIES = tuple(_family(one, place) for place, one in enumerate(_DATA["family"], len(_GROUPS) + 1))
_ALL = frozenset(_BITS)
# Compared by code point, because the pattern takes milliseconds to compile; all other words are Latin or Cyrillic.
_GLUED_BITS = {word: bits for word, bits in _BITS.items() if max(word) >= CJK[0]}


def near(text: str, low: str, words: frozenset[str], *, digits: bool) -> Iterator[Found]:
    """Find values with words of their family around them. low: the text in lower case; words: its words."""
    if low.isascii() and _ALL.isdisjoint(words):
        return
    seen: dict[str, list[tuple[int, int]]] = {}
    for family, form, need in _possible(_there(low, words) & ~_VETO, digits=digits):
        if form not in seen:
            seen[form] = [*_values(form, text)] if digits or _SIGN.search(text) else []
        for start, end in seen[form]:
            if not (form in _NUMBERS and _is_vetoed(low, start)) and _told(family, low, start, end, need):
                yield start, end, family.kind


def _there(low: str, words: frozenset[str]) -> int:
    """Return the groups with a word in the text. Chinese words are found inside other words."""
    bits = 0
    for word in words & _ALL:
        bits |= _BITS[word]
    if not low.isascii() and _CJK.search(low):
        for word, of_word in _GLUED_BITS.items():
            if word in low:
                bits |= of_word
    return bits


@lru_cache(maxsize=4096)
def _possible(there: int, *, digits: bool) -> tuple[tuple[Family, str, int], ...]:
    """Return the families and forms for which these groups suffice. digits: True if the text has any."""
    return tuple(
        (one, form, need)
        for one in _FAMILIES
        for form, need in one.forms.items()
        if there and one.score(there) >= need and (digits or form in _QUIET)
    )


def _is_vetoed(low: str, start: int) -> bool:
    """Return True if a word directly before a number gives it another meaning."""
    close = low[max(0, start - VETO) : start]
    return _there(close, frozenset(WORD.findall(close)[-2:])) & _VETO != 0


def _told(family: Family, low: str, start: int, end: int, need: int) -> bool:
    """Return True if enough words of the family are around the value at low[start:end]."""
    around = f"{low[max(0, start - REACH) : start]} \n {low[end : end + REACH]}"
    return family.score(_there(around, words_of(around))) >= need


def _values(form: str, text: str) -> Iterator[tuple[int, int]]:
    for match in FORMS[form].finditer(text):
        start, word = match.start(), match[0]
        if form in _OF_WORDS:
            if start and _IN_WORD.match(text, start - 1):
                continue  # the rest of a word too long for a password
            start += len(word) - len(word.lstrip("*_-"))
            word = word.strip("*_").rstrip(".,?-").lstrip("-")
            if not _is_password(word, strange=form == "strange"):
                continue
        elif DATE.match(word) or _YEAR.fullmatch(word) or UNIT.match(text, match.end()):
            continue
        yield start, start + len(word)


def _is_password(word: str, *, strange: bool) -> bool:
    """Return True if a word mixes letters with digits or signs; an odd one has a sign or digits inside."""
    letters, digits = sum(map(str.isalpha, word)), sum(map(str.isdigit, word))
    if (
        letters < 3
        or not (is_mixed(word) or (strange and _JOINED.fullmatch(word)))
        or _NAME.fullmatch(word)
        or (word.isupper() and digits < 2)
    ):
        return False
    if not strange:
        return digits >= 1 and not word[:1].isdigit()
    signs = _INNER.search(word[1:-1]) is not None
    return signs or (digits >= 1 and letters >= 5 and re.search(r"[a-z]", word) is not None and not word[:1].isdigit())
