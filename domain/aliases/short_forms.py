"""Match short and long forms: initials (GHA), numeronyms (k8s), first letters (admin) or omitted characters.

Each check is strict: every word of the long form contributes, and every letter of the short form has its place.
"""

import re
from collections.abc import Sequence
from functools import cache

from slowwave_server.domain.aliases.nicknames import NICKNAMES
from slowwave_server.domain.aliases.spelling import SMALL_WORDS, key_of

MAX_LETTERS = 10
SHORTEST_CUT = 3
"""Minimum letters of a word that was cut off, such as "admin"."""
_LONG_COMPOUND = 9
_ACRONYM = re.compile(r"(?:[A-ZÄÖÜÀ-ÝА-ЯΑ-Ω]\.?&?){2,10}s?|[A-Z][A-Z0-9a-z]{0,6}[A-Z0-9]s?")
_HUMP = re.compile(r"[A-ZÀ-ÖØ-ÞА-Я]+(?=[A-Z][a-z])|[A-ZÀ-ÖØ-ÞА-Я]?[^\W_A-ZÀ-ÖØ-ÞА-Я]+|[A-ZÀ-ÖØ-ÞА-Я]+|\d+")
_NUMERONYM = re.compile(r"([^\W\d_])(\d{1,2})([^\W\d_])")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\u3041-\u30ff\u3005]+")


def is_acronym(text: str) -> bool:
    """Return True if a text looks like initials: two or more capitals, with or without dots."""
    return _ACRONYM.fullmatch(text) is not None and sum(map(str.isupper, text)) >= 2


def is_short_for(short: str, words: Sequence[str]) -> bool:
    """Return True if `short` derives from all of these words."""
    if not words or key_of(short) == key_of(" ".join(words)):
        return False
    return (
        _is_numeronym(short, words)
        or (is_acronym(short) and _are_initials(short, words))
        or (len(words) == 1 and _is_cut(short, words[0]))
    )


def long_form_before(short: str, words: Sequence[str]) -> tuple[str, ...] | None:
    """Return the fewest last words from which `short` derives; None if there are none."""
    for count in range(1, min(len(words), len(short) * 2 + 2) + 1):
        long = tuple(words[-count:])
        if long[0].lower() not in SMALL_WORDS and is_short_for(short, long):
            return long
    return None


def is_shortened(short: str, long: str) -> bool:
    """Return True if a phrase such as "is short for" is plausible for these names.

    It is plausible if the letters of the short form occur in the long form in order, or if the short form is a known
    nickname.
    """
    letters = iter(key_of(long).replace(" ", ""))
    return all(letter in letters for letter in key_of(short) if letter.isalpha()) or is_nickname(short, long)


def is_nickname(short: str, full: str) -> bool:
    """Return True if `short` is a common short form of the first name of `full`."""
    return key_of(full).partition(" ")[0] in NICKNAMES.get(key_of(short), ())


def han_long_form(short: str, before: str) -> str | None:
    """Return the end of `before` that `short` abbreviates by omitting characters (国連 of 国際連合), or None.

    The long form contains every character of the short form in order, and begins with the first one.
    """
    if not (2 <= len(short) <= 5 and _HAN.fullmatch(short)):
        return None
    for start in range(len(before) - len(short) - 1, max(len(before) - 16, 0) - 1, -1):
        long = before[start:]
        letters = iter(long)
        if long[0] == short[0] and _HAN.fullmatch(long) and all(character in letters for character in short):
            return long
    return None


def _is_numeronym(short: str, words: Sequence[str]) -> bool:
    match = _NUMERONYM.fullmatch(key_of(short))
    long = key_of("".join(words))
    return match is not None and len(long) == int(match[2]) + 2 and long[0] == match[1] and long[-1] == match[3]


def _is_cut(short: str, word: str) -> bool:
    """Return True if a word consists of the first letters of a longer word ("admin")."""
    cut, whole = key_of(short), key_of(word)
    return SHORTEST_CUT <= len(cut) <= len(whole) - 3 and whole.startswith(cut) and " " not in short


def _are_initials(short: str, words: Sequence[str]) -> bool:
    plural = short[:-1] if short.endswith("s") and short[:-1].isupper() else short
    letters = "".join(letter for letter in plural if letter.isalnum()).casefold()
    if not 2 <= len(letters) <= MAX_LETTERS or words[-1].lower() in SMALL_WORDS:
        return False
    return _fits(letters, tuple(words), len(letters) > 2)


@cache
def _parts(word: str) -> tuple[str, ...]:
    """Split a word at its inner capitals: GitHub → git, hub."""
    return tuple(part.casefold() for part in _HUMP.findall(word))


def _fits(letters: str, words: tuple[str, ...], loose: bool) -> bool:
    """Return True if the letters are the initials of the words. loose: a compound may give a second letter (BMBF)."""
    if not words:
        return not letters
    if words[0].lower() in SMALL_WORDS and _fits(letters, words[1:], loose):
        return True
    if not letters:
        return False
    parts = _parts(words[0])
    if not parts or letters[0] != parts[0][0]:
        return False
    for given in range(1, len(parts) + 1):
        if letters[:given] == "".join(part[0] for part in parts[:given]) and _fits(letters[given:], words[1:], loose):
            # A single word has an acronym only if all its parts contribute (JavaScript: JS, but Paris: no PS).
            return True
    inside = loose and len(words[0]) >= _LONG_COMPOUND and letters[1:2] and letters[1] in parts[0][2:]
    return bool(inside) and _fits(letters[2:], words[1:], loose)


_fits = cache(_fits)
