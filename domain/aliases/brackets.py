"""Aliases in parentheses: "Kubernetes (k8s)", "GHA (GitHub Actions)", "Osprey (formerly Falcon)", "Москва (Moscow)".

Most parentheses contain only a remark. So an alias needs a phrase that equates the two names, a name that derives from
the other, or two names that sound alike.
"""

import re
from collections.abc import Iterator

from slowwave_server.domain.aliases.phrases import INSIDE, Kind
from slowwave_server.domain.aliases.reading import is_name_word, name_left, name_right, run_left, words_left
from slowwave_server.domain.aliases.scripts import sound_alike
from slowwave_server.domain.aliases.short_forms import (
    han_long_form,
    is_acronym,
    is_nickname,
    is_short_for,
    is_shortened,
    long_form_before,
)
from slowwave_server.domain.aliases.spelling import clean_name, may_be_name

_BRACKETS = re.compile(r"[(（]([^()（）\n]{1,80})[)）]")
_OR = re.compile(r"\s*(?:,| or | and | oder | und | ou | et | o | y | e | of | en |/|、|或)\s*")
_FOR_SHORT = re.compile(r"(?:or )?(\S{2,20}),? for short", re.IGNORECASE)
_PHRASES: dict[str, Kind] = {phrase: kind for kind, phrases in INSIDE for phrase in phrases}
# Try the longest phrase first.
_OPENS = re.compile("|".join(map(re.escape, sorted(_PHRASES, key=len, reverse=True))), re.IGNORECASE)
_WITHOUT_QUOTES = str.maketrans("", "", '"“”„«»「」『』')


def in_brackets(text: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of a name and an alias."""
    for match in _BRACKETS.finditer(text):
        inner, at = match[1].strip(), match.start()
        phrase, kind = _phrase_of(inner)
        if kind is not None:
            yield from _by_phrase(text, at, kind, inner[len(phrase) :])
        elif short := _FOR_SHORT.fullmatch(inner):
            yield from _outside(text, at, clean_name(short[1]))
        else:
            yield from _by_itself(text, at, inner.translate(_WITHOUT_QUOTES).strip())


def _phrase_of(inner: str) -> tuple[str, Kind | None]:
    match = _OPENS.match(inner)
    return ("", None) if match is None else (match.group(), _PHRASES[match.group().lower()])


def _by_phrase(text: str, at: int, kind: Kind, rest: str) -> Iterator[tuple[str, str]]:
    given = [clean_name(one) for one in _OR.split(rest) if one.strip()]
    if not given or len(given) > 3 or not all(_is_whole_name(one) for one in given):
        return
    for name in given:
        if kind == "alias":
            yield from _outside(text, at, name)
            continue
        outside = name_left(text, at)
        if outside and kind == "former":
            yield outside, name
        elif (outside and kind == "renamed") or (outside and is_shortened(outside, name)):
            yield name, outside


def _outside(text: str, at: int, alias: str) -> Iterator[tuple[str, str]]:
    """Yield the name before the parentheses: a capitalised name, or words from which the alias derives."""
    run = run_left(text, at)
    if run:
        yield han_long_form(alias, run) or run, alias
        return
    long = long_form_before(alias, words_left(text, at, len(alias) * 2 + 2))
    name = " ".join(long) if long else name_left(text, at)
    if name:
        yield name, alias


def _is_whole_name(text: str) -> bool:
    """Return True if the whole text is one name; a sentence after a phrase is not a name."""
    words = text.split()
    return may_be_name(text) and len(words) <= 5 and (len(words) == 1 or name_right(text, 0)[0] == text)


def _by_itself(text: str, at: int, inner: str) -> Iterator[tuple[str, str]]:
    aside = " " in inner and inner.islower()
    if (aside and not text[max(0, at - 4) : at].strip(" *")[-2:-1].isupper()) or not may_be_name(inner):
        # A remark in lower case can only be the long form of the initials before it: "PR (pull request)".
        return
    run = run_left(text, at)
    if run and (long := han_long_form(inner, run)):
        yield long, inner
        return
    words = inner.split()
    if len(words) == 1 and (long_form := long_form_before(inner, words_left(text, at, len(inner) * 2 + 2))):
        if _is_worth(inner, long_form):
            yield " ".join(long_form), inner
        return
    (last,) = words_left(text, at, 1) or ("",)
    if last and is_short_for(last, words):
        yield inner, last
        return
    outside = run or name_left(text, at)
    if not outside or not _is_whole_name(inner):
        return
    (nearest,) = outside.split()[-1:]
    if is_nickname(inner, outside) and len(words) == 1:
        yield outside, inner
    elif is_nickname(nearest, inner):
        yield inner, nearest
    elif not (outside.isascii() and inner.isascii()) and sound_alike(_last_words(outside, len(words)), inner):
        yield _last_words(outside, len(words)), inner


def _is_worth(short: str, long: tuple[str, ...]) -> bool:
    """Return True if a long form is plausible: several words or a name, not any single word with matching letters."""
    return len(long) > 1 or not is_acronym(short) or is_name_word(long[0])


def _last_words(name: str, count: int) -> str:
    return " ".join(name.split()[-max(count, 1) :])
