"""Fold a text to the form in which people read it, so that an odd spelling hides no secret.

Folding normalises full-width letters, look-alike letters of another script, invisible characters, and spaced letters. A
folded text knows the source position of each of its characters.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from slowwave.invisible_characters import INVISIBLE
from slowwave.lazy_patterns import lazy_pattern
from slowwave.redaction.words import CJK

MARK = lazy_pattern(r"\[redacted:[\w-]{1,40}\]")
COVER = "\ue000"
"""Stands in a folded text for each character of an earlier "[redacted:…]": a mark is never redacted again."""

# Replacements of one character by one: quotes, blanks, full-width signs.
_PLAIN = str.maketrans(
    dict.fromkeys("“”„‟«»「」『』＂", '"')
    | dict.fromkeys("‘’‚‛‹›", "'")
    | dict.fromkeys(
        "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
    )
    | dict.fromkeys("‐‑‒−", "-")
    | {"…": ".", "–": "—", "⁄": "/", "∶": ":"}
    | {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if code != 0xFF02}
)
_LATIN = "aceijopsxyhkbABCEHIJKMNOPSTXYZVaoOpTXBEHIKMNPYZv"
_OTHER = "асеіјорѕхуһкЬАВСЕНІЈКМΝОРЅТХУΖѴαοΟρΤΧΒΕΗΙΚΜΝΡΥΖν"
_TO_LATIN = str.maketrans(_OTHER, _LATIN)
_TO_CYRILLIC = str.maketrans("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ")
_FOREIGN = lazy_pattern("[\u0370-\u03ff\u0400-\u052f]")
_WORD = lazy_pattern(r"[^\s\"'`<>(){}\[\],;。、]+")
_LATIN_LETTER = lazy_pattern("[A-Za-z0-9]")
_SPACED = lazy_pattern(
    rf"(?<![^\s{CJK}\"':=])(?:(?:[^\s{CJK}éèà—=] ){{3,400}}[^\s{CJK}éèà—=]|\d \d \d)"
    rf"(?=[.,;:!?)\"'。]*(?:[\s{CJK}]|$))"
)
SINGLES = 2
"""Characters that stand alone in every such text; a third may have a full stop behind it."""
_FIRST = lazy_pattern(r"[A-Za-z0-9+/_=.%$~:@-]+")
_LEAST = 14
_TAIL = lazy_pattern(r"[A-Za-z0-9+/_=.%$~:@-]+$")
MARGIN = 40
AROUND = 300
"""Characters around a line's end in which a token is looked for that it cuts."""


class Folded(NamedTuple):
    """A folded text. at: the source position of each of its characters; None: positions are equal."""

    text: str
    source: str
    at: list[int] | None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the position of text[start:end] in the source, with the characters inside it that folding removed."""
        if self.at is None:
            return start, end
        first, last = self.at[start], self.at[end - 1]
        after = last + 1
        # A letter with an accent was two characters; invisible characters directly after them belong to no other
        # letter.
        while after < len(self.source) and unicodedata.combining(self.source[after]):
            after += 1
        return first, after


def fold(text: str) -> Folded:
    """Return the text as people read it. Takes linear time; a plain ASCII text is returned unchanged."""
    flat = text
    if "[redacted:" in text:
        flat = MARK.sub(lambda match: COVER * len(match[0]), text)
    if flat.isascii():
        return Folded(flat, text, None)
    flat = flat.translate(_PLAIN)
    at = None
    if not unicodedata.is_normalized("NFKC", flat) or INVISIBLE.search(flat):
        flat, at = _normalized(flat)
    if _FOREIGN.search(flat):
        flat = _WORD.sub(lambda word: _one_script(word[0]), flat)
    return Folded(flat, text, at)


def despaced(view: Folded) -> Folded:
    """Return the text with s p a c e d letters joined; the same object if it has none."""
    inner = [(match.start(), match.end()) for match in _SPACED.finditer(view.text) if _is_word(match[0])]
    if not inner:
        return view
    kept: list[str] = []
    at: list[int] = []
    done = 0
    for start, end in inner:
        kept += [view.text[done:start], view.text[start:end:2]]
        places = range(len(view.text)) if view.at is None else view.at
        at += [*places[done:start], *places[start:end:2]]
        done = end
    places = range(len(view.text)) if view.at is None else view.at
    return Folded("".join([*kept, view.text[done:]]), view.source, [*at, *places[done:]])


def line_ends(view: Folded) -> Iterator[tuple[int, Folded]]:
    """For each line end that may cut a token, return its position and the surrounding text without the line end."""
    text = view.text
    at = text.find("\n")
    while at >= 0:
        behind = at + 1
        while text[behind : behind + 1] in {" ", "\t"} and behind < at + MARGIN:
            behind += 1
        first = _FIRST.match(text, behind)
        if first is not None and (last := _last_word(text, at)) and _may_continue(last, first[0]):
            yield from _around(view, at, behind, in_groups=last.isalnum() and first[0][0].isdigit())
        at = text.find("\n", behind)


def _last_word(text: str, at: int) -> str:
    words = text[max(0, at - AROUND) : at].rstrip("\\\r").split(" ")
    return words[-1] if _FIRST.fullmatch(words[-1]) else "".join(_TAIL.findall(words[-1][-MARGIN:]))


def _around(view: Folded, at: int, behind: int, *, in_groups: bool) -> Iterator[tuple[int, Folded]]:
    """Return the text around a line end without it; in_groups: also with a blank, as between groups of a number."""
    begin = max(0, at - AROUND)
    head = view.text[begin:at].rstrip("\\\r")
    tail = view.text[behind : behind + AROUND]
    places = range(len(view.text)) if view.at is None else view.at
    before, after = places[begin : begin + len(head)], places[behind : behind + AROUND]
    yield len(head), Folded(head + tail, view.source, [*before, *after])
    if in_groups:
        yield len(head), Folded(f"{head} {tail}", view.source, [*before, places[at], *after])


def _may_continue(last: str, first: str) -> bool:
    """Return True if two words may be the halves of one token or of one grouped number."""
    digits = any(map(str.isdigit, last)), any(map(str.isdigit, first))
    return all(digits) or (any(digits) and len(last) + len(first) >= _LEAST)


def _is_word(run: str) -> bool:
    return sum(map(str.isalnum, run)) * 4 >= len(run)


def _normalized(text: str) -> tuple[str, list[int]]:
    signs: list[str] = []
    at: list[int] = []
    for place, sign in enumerate(text):
        if sign.isascii():
            signs.append(sign)
            at.append(place)
        elif INVISIBLE.match(sign):
            continue
        elif unicodedata.combining(sign) and signs:
            # If letter and accent form one letter, they are joined; any other accent is decoration and removed.
            whole = unicodedata.normalize("NFC", signs[-1] + sign)
            signs[-1] = whole if len(whole) == 1 else signs[-1]
        else:
            folded = unicodedata.normalize("NFKC", sign)
            signs.extend(folded)
            at.extend([place] * len(folded))
    return "".join(signs), at


def _one_script(word: str) -> str:
    """Return a word of mixed scripts in the one script that all its letters may belong to; any other word unchanged."""
    if not _FOREIGN.search(word) or not _LATIN_LETTER.search(word):
        return word
    latin = word.translate(_TO_LATIN)
    if not _FOREIGN.search(latin):
        return latin
    pieces = re.split(r"([=:—])", word)
    if len(pieces) > 1:
        return "".join(_one_script(piece) for piece in pieces)
    return word.translate(_TO_CYRILLIC)
