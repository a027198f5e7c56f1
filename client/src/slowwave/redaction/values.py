"""Check the form of a secret value after a word that announces it: password, key, PIN, card number, personal id."""

import re
from collections.abc import Callable
from typing import NamedTuple

from slowwave.lazy_patterns import lazy_pattern
from slowwave.redaction.words import CJK, ENDINGS, FOLLOW, PHRASES, PROSE, UNITS

_QUOTED = lazy_pattern(
    r"\\?\"(?P<v>[^\"\n]{1,200}?)\\?\"|'(?P<w>[^'\n]{1,200})'(?![A-Za-z0-9_])|`(?P<x>[^`\n]{1,200})`"
)
_PLAIN = lazy_pattern(rf"[^\s\"`。、{CJK}\ue000]{{1,400}}")
_QUERY = lazy_pattern(r"[^\s\"'`&#<>;\ue000]{1,400}")
_TAIL = ".,;:!?)]}>*'"
_AND = lazy_pattern(rf"\s*(?:[.,;!?)\]}}|*\n。、{CJK}]|$)|\s+{FOLLOW}\b|\s*—")
DATE = lazy_pattern(
    r"(?:19|20)\d\d[-./](?:0?[1-9]|1[0-2])[-./](?:[0-2]?\d|3[01])|\d{1,2}[./-]\d{1,2}[./-](?:19|20)?\d\d(?!\d)|\d{1,2}:\d\d"
)
UNIT = lazy_pattern(rf"\s?(?:%|€|\$|£|{UNITS}\b)", re.IGNORECASE)
_CODE = lazy_pattern(
    r"(?<![A-Za-z0-9_.])(?:[A-Z]-)?(?:\d{4,8}|\d{3}[ -]\d{3}|\d{4}[ -]\d{4}|\d{2}[ -]\d{2}[ -]\d{2})"
    r"(?![A-Za-z0-9_-]|[.,]\d)"
)
_MIXED_CODE = lazy_pattern(r"(?<![A-Za-z0-9_-])(?=[A-Z0-9]{0,7}\d)(?=[A-Z0-9]{0,7}[A-Z])[A-Z0-9]{6,8}(?![A-Za-z0-9_-])")
_CVV = lazy_pattern(r"(?<![A-Za-z0-9_.])\d{3,4}(?![A-Za-z0-9_-]|[.,]\d)")
_PIN = lazy_pattern(
    r"(?<![A-Za-z0-9_.])[#*]?\d(?:[\d]{3,11}|(?:[ -]\d){3,11}|\d[ -]\d\d(?:[ -]\d\d)?)[#*]?(?![A-Za-z0-9_-]|[.,]\d)"
)
_LONG_NUMBER = lazy_pattern(r"(?<![A-Za-z0-9_.])(?:[A-Z]{2}\d{2}[ -]?)?\d(?:[ ./-]?\d){5,25}(?![A-Za-z0-9_]|[.,]\d)")
_IDENTITY = lazy_pattern(
    r"(?<![A-Za-z0-9_])(?:[A-Z]{1,6}[ -]?)?\d[\dA-Z]{0,15}"
    r"(?:[ ./-]{1,2}(?:\d[\dA-Z]{0,11}|[A-Z]{1,2}(?![A-Za-z0-9_]))){0,7}(?![A-Za-z0-9_])"
)
_RECOVERY = lazy_pattern(
    r"(?<![A-Za-z0-9_.-])[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{3,10}){0,5}(?:[\s,]{1,3}[A-Za-z0-9]{3,10}-[A-Za-z0-9]{3,10}(?:-[A-Za-z0-9]{3,10}){0,4}){0,12}(?![A-Za-z0-9_-])"
)
_WORDS = lazy_pattern(
    r"\"?(?P<p>[a-z]{2,20}(?:[ -][a-z]{2,20}){2,9})(?=[\"'`.,;!\n。]|$| (?:and|und|et|y|e|и) |)", re.IGNORECASE
)
_SETTING = lazy_pattern(r"[ \t]*[\w.-]{2,40}\s*[:=]\s*")
_SETTING_WORDS = lazy_pattern(r"[a-z]{3,20}(?: [a-z]{3,20}){2,9}(?=\n|$)")
_ANSWER = lazy_pattern(rf"[^\s.,;!?\"'。{CJK}][^.,;!?\"'\n。]{{1,40}}")
_LETTERS = lazy_pattern(r"[^\W\d_'-]+(?:['-][^\W\d_'-]+)*")
_SYMBOL = lazy_pattern(r"[!@#$%^&*+=?~|]")
_PATH = lazy_pattern(
    r"(?:[a-z]{2,8}:)?/{1,2}\S*|[\w.-]+/[\w./-]*|[\w.+-]+@[\w-]+\.[\w.]+|[\w-]+(?:\.[a-z]{2,4})+|[\w.]+\(.*\)?|[a-z_]\w*(?:\.\w+)+\[.*|\w+\.env(?:iron)?\.\w+|<[^>]*>?|\$\{?\w+\}?|\{\{.*|%\w+%?|\*{3,}|x{4,}|\.{2,}"
)
_ORDINARY = lazy_pattern(
    r"v?\d+(?:\.\d+)*[a-z]{0,3}|\d+(?:st|nd|rd|th)|[a-z]\d|\d{1,4}-[a-z]+(?:-[a-z]+)*|[a-z]{2,5}-?\d{1,2}[a-z]?|(?:[a-z]+[+&/|=][a-z]+)+",
    re.IGNORECASE,
)
"""Words with digits or signs that are no secret: versions, ordinals, "64-digit", "GPT-4o", "read/write"."""


class Place(NamedTuple):
    """A place in a text at which a secret value may begin, such as "tulip" in "my password is tulip".

    text, at: the text, and the offset of the place.
    noun: the word that announces the value, in lower case: "password", "pin".
    signed: a word like "is" precedes the value ("signs" in words.json).
    assigned: "=" or ":" precedes the value.
    query: the value is a parameter in the query of a URL.
    before: the value precedes the noun instead of following it.
    turned: a word like "to" precedes the value ("turns" in words.json), as in "change my password to tulip".
    changed: the clause has a word like "change" ("changes" in words.json).
    """

    text: str
    at: int
    noun: str
    signed: bool
    assigned: bool
    query: bool
    before: bool = False
    turned: bool = False
    changed: bool = False


Span = tuple[int, int]


def _token(place: Place) -> tuple[int, int, bool] | None:
    """Return the word at a position without the sentence's punctuation, and whether the word is quoted."""
    quoted = None if place.query else _QUOTED.match(place.text, place.at)
    if quoted is not None:
        name = quoted.lastgroup or "v"
        return *quoted.span(name), True
    opened = 1 if place.text[place.at : place.at + 1] in tuple("\"'`") else 0
    plain = (_QUERY if place.query else _PLAIN).match(place.text, place.at + opened)
    if plain is None:
        return None
    word = plain[0].rstrip(_TAIL)
    return (plain.start(), plain.start() + len(word), False) if word else None


def _password(place: Place) -> Span | None:
    several = _several_words(place)
    token = None if several else _token(place)
    if token is None:
        return several
    start, end, quoted = token
    word = place.text[start:end]
    if not 3 <= len(word) <= 200 or _is_no_value(word):  # a shorter word is prose, a longer one is no password
        return None
    if place.before:
        is_secret = _stands_alone(place, word, quoted=quoted)
    elif quoted and (place.assigned or _is_quoted_password(place, word)):
        is_secret = True
    elif word.isdigit():
        sure = place.signed or place.turned or len(word) >= 6
        is_secret = sure and len(word) >= 4 and not UNIT.match(place.text, end)
    elif not place.signed:
        plain = place.turned and place.changed and word.islower() and _is_plain_secret(place, word, end)
        is_secret = plain or (is_mixed(word) and len(word) >= 5)
    else:
        is_secret = _LETTERS.fullmatch(word) is None or _is_plain_secret(place, word, end)
    return (start, end) if is_secret else None


def _several_words(place: Place) -> Span | None:
    """Return a passphrase of several words, or a passphrase that fills a line of a settings file."""
    if place.assigned and (line := _line_of_words(place.text, place.at)):
        return line
    if not place.noun.startswith(PHRASES) or (place.before and not place.signed):
        return None
    words = _WORDS.match(place.text, place.at)
    if words is None:
        return None
    told = words["p"].lower().split()
    announced = place.signed or place.turned or len(told) > 3
    return words.span("p") if announced and _is_phrase(told) else None


def _line_of_words(text: str, at: int) -> Span | None:
    """Return the words after `NAME=` or `name:` that fill a line of a settings file and are not prose."""
    line = text.rfind("\n", max(0, at - 60), at) + 1
    words = _SETTING_WORDS.match(text, at)
    if words is None or _SETTING.fullmatch(text, line, at) is None or not PROSE.isdisjoint(words[0].lower().split()):
        return None
    return words.span()


def _is_quoted_password(place: Place, word: str) -> bool:
    one = " " not in word or place.noun.startswith(PHRASES)
    return one and word.isascii() and (place.signed or place.turned)


def _is_phrase(words: list[str]) -> bool:
    """Return True if consecutive words are a passphrase: few of them are words of prose."""
    return sum(word in PROSE for word in words) * 5 < 2 * len(words)


def _stands_alone(place: Place, word: str, *, quoted: bool) -> bool:
    """Return True if a word before "is my password" is the password; a plain word must begin its sentence."""
    if is_mixed(word) or (word.isdigit() and len(word) >= 6):
        return True
    if place.text[place.at : place.at + 1] in tuple("\"'`"):
        quoted = True
    alone = quoted or (place.signed and len(word) >= 6)
    return alone and word.lower() not in PROSE and ENDINGS.search(word.lower()) is None


def _is_plain_secret(place: Place, word: str, end: int) -> bool:
    """Return True if a word of letters only is a password: it ends its clause and is not a word of prose."""
    low = word.lower()
    odd = word[1:] != word[1:].lower() and not word.isupper() and "-" not in word and "'" not in word
    compound = not place.assigned and not PROSE.isdisjoint(re.split(r"[-_'.]", low))
    if low in PROSE or compound or len(word) < 4:
        return False
    if odd:
        return True
    if place.query or (place.assigned and _ends_line(place.text, end)):
        return True
    if ENDINGS.search(low) or "'" in word or (not word.isascii() and not place.assigned):
        return False
    return _AND.match(place.text, end) is not None


def _ends_line(text: str, end: int) -> bool:
    return text[end : end + 2].strip(" \"'`,;})]")[:1] in {"", "\n", "\r"}


def _is_no_value(word: str) -> bool:
    """Return True for prose, placeholders, paths, addresses, names of variables and dates: no secret values."""
    low = word.lower()
    return (
        low in PROSE
        or not any(map(str.isalnum, word))
        or _PATH.fullmatch(low) is not None
        or DATE.match(word) is not None
        or "://" in word
        or "redacted" in low
    )


def is_mixed(word: str) -> bool:
    """Return True if a word has letters together with digits or signs that plain words do not have."""
    letters = any(map(str.isalpha, word))
    if not letters or _is_no_value(word) or _ORDINARY.fullmatch(word):
        return False
    return any(map(str.isdigit, word)) or _SYMBOL.search(word[:-1]) is not None


def _key(place: Place) -> Span | None:
    """Return a key or token: a long word with letters and digits; after an assignment, nearly any word."""
    token = _token(place)
    if token is None:
        return None
    start, end, quoted = token
    word = place.text[start:end]
    if _is_no_value(word) or " " in word:
        return None
    digits = any(map(str.isdigit, word))
    if (place.assigned or quoted) and len(word) >= (6 if digits else 12) and any(map(str.isalpha, word)):
        return (start, end) if digits or "_" not in word else None
    least = 8 if place.signed or place.before or place.turned else 16
    if len(word) >= least and digits and any(map(str.isalpha, word)) and not word.startswith("/"):
        return start, end
    return (start, end) if len(word) >= 20 and word.isdigit() and place.signed else None


def _weak(place: Place) -> Span | None:
    """Return a value after an ambiguous word ("the key is …") only if the value itself looks like a secret."""
    if not place.signed and not place.before and not place.turned:
        return None
    token = _token(place)
    if token is None:
        return None
    start, end, _ = token
    word = place.text[start:end]
    if _is_no_value(word) or " " in word or len(word) < 8 or word.startswith("/") or _ORDINARY.fullmatch(word):
        return None
    return (start, end) if any(map(str.isdigit, word)) and any(map(str.isalpha, word)) else None


def _of(
    pattern: re.Pattern[str], holds: Callable[[str, Place], bool] = lambda _word, _place: True
) -> "Callable[[Place], Span | None]":
    """Return the match of a pattern at a position, with or without a quote before it, but no number with a unit."""

    def read(place: Place) -> Span | None:
        at = place.at + (place.text[place.at : place.at + 1] in tuple("\"'`"))
        match = pattern.match(place.text, at)
        if match is None or UNIT.match(place.text, match.end()) or DATE.match(match[0]) or not holds(match[0], place):
            return None
        return match.span()

    return read


def _is_pin(word: str, place: Place) -> bool:
    bare = re.sub(r"\D", "", word)
    if len(bare) < 4:
        return place.signed or place.before or place.turned
    return True


def _digits_at_least(count: int) -> Callable[[str, Place], bool]:
    return lambda word, _place: sum(map(str.isdigit, word)) >= count


def _is_identity(word: str, _place: Place) -> bool:
    digits = sum(map(str.isdigit, word))
    return digits >= 5 or (digits >= 4 and len(word) >= 8 and word[0].isalpha())


def _code(place: Place) -> Span | None:
    found = _of(_CODE)(place)
    if found is None and (place.signed or place.before or place.turned):
        found = _of(_MIXED_CODE)(place)
    return found


def _recovery(place: Place) -> Span | None:
    return _of(_RECOVERY, lambda word, _place: sum(map(str.isdigit, word)) >= 2 and len(word) >= 8)(place)


def _answer(place: Place) -> Span | None:
    return _of(_ANSWER, lambda word, place: place.signed and word.lower() not in PROSE)(place)


VALUES: dict[str, Callable[[Place], Span | None]] = {
    "password": _password,
    "token": _key,
    "weak": _weak,
    "cvv": _of(_CVV),
    "code": _code,
    "pin": _of(_PIN, _is_pin),
    "recovery": _recovery,
    "card": _of(_LONG_NUMBER, _digits_at_least(12)),
    "account": _of(_LONG_NUMBER, _digits_at_least(6)),
    "identity": _of(_IDENTITY, _is_identity),
    "answer": _answer,
}
