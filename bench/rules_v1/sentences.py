"""Splits chat messages into sentences.

A statement is kept or dropped sentence by sentence, so the split decides the content of a memory. The time is linear in
the length of the text.
"""

import re
from collections.abc import Iterator

MAX_SENTENCE = 400
"""Characters. A longer run without an end is cut at a space and marked with an ellipsis."""
MAX_WORD = 80
"""Characters. A longer unbroken run is data (a hash, an encoded file), not language: its sentence is dropped."""

_APOSTROPHES = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "“": '"', "”": '"', "\u00a0": " ", "\r": "\n", "\x00": " "}
)
# The look-behind starts a match only at the head of a run of marks: else a long run would be tried from each mark.
_END = re.compile(r"(?<![.!?…])[.!?…]+[\"')\]]{0,3}(?=\s|$)|\n+|(?<=[a-z]{2})[.!?](?=(?:[A-Z][a-z]{1,20}|I) [a-z])")
_LAST_WORD = re.compile(r"([^\s.]{1,12}(?:\.[^\s.]{1,3}){0,3})\.$")
_ABBREVIATIONS = frozenset(
    "dr mr mrs ms prof st sr jr vs etc e.g i.e eg ie approx dept est fig no vol inc ltd co corp mt ave rd jan feb mar "
    "apr jun jul aug sep sept oct nov dec gen col sgt capt rev hon a.m p.m am pm u.s u.k u.s.a ph.d b.a m.a".split(),
)
_MAY_END = frozenset("etc inc ltd co corp a.m p.m am pm u.s u.k u.s.a ph.d b.a m.a jr sr st no ave rd".split())
_BULLET = re.compile(r"^(?:[-*•>#]{1,4}|\d{1,2}[.)]) ")
_BULLET_MARKS = frozenset("-*•>#0123456789")
# A separate independent clause: "I teach maths, and I have two dogs" are two facts.
_CLAUSE = re.compile(
    r"(?:\s*[,;]\s*|\s+)(?:and|but)\s+(?=(?:i|we)(?:'(?:m|ve|ll|d|re))?\s+[a-z])|\s*;\s+", re.IGNORECASE
)
# "I have two dogs, do you have any?": the statement is kept without its question.
_ASKS = re.compile(
    r"(?:\s*,\s*(?:and |but |so )?|\s+(?:and|but|so)\s+)(?=(?:do|did|have|are|were|would|can|could|will|what|what's|"
    r"how|where|when|why|which|who|is)\s+[a-z' ]{0,20}\byou)",
    re.IGNORECASE,
)
_HAS_FIRST_PERSON = re.compile(r"\b(?:i|im|i'm|i've|ive|i'll|i'd|my|we|we're|we've)\b", re.IGNORECASE)
_SUBORDINATE = re.compile(
    r"^(?:if|when|whenever|because|since|although|though|while|whether|as|unless|once|after|before|that|what|how)\b|"
    r"\b(?:if|whether|that|than|between|said|told|says|say|think|thought|hope|wish|so)\s+(?:i|we)\b",
    re.IGNORECASE,
)


def normalise(text: str) -> str:
    """The same text with straight quotes and plain spaces; the length stays the same."""
    if text.isascii() and "\r" not in text and "\x00" not in text:
        return text
    return text.translate(_APOSTROPHES)


def sentences(text: str) -> Iterator[str]:
    """The sentences of `text` in order, trimmed, without list marks; independent clauses are separate."""
    for raw in _cut(normalise(text)):
        sentence = " ".join(raw.split())
        if sentence[:1] in _BULLET_MARKS:
            sentence = _BULLET.sub("", sentence)
        if not sentence or (len(sentence) > MAX_WORD and max(map(len, sentence.split(" "))) > MAX_WORD):
            continue
        if len(sentence) > MAX_SENTENCE:
            yield sentence[:MAX_SENTENCE].rsplit(" ", 1)[0] + " …"
        else:
            yield from _clauses(sentence)


def _cut(text: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(text):
        if _is_end(text, start, match):
            yield text[start : match.end()]
            start = match.end()
    yield text[start:]


def _is_end(text: str, start: int, match: re.Match[str]) -> bool:
    mark = match.group()
    if "\n" in mark or "?" in mark or "!" in mark:
        return True
    follows = text[match.end() : match.end() + 12].lstrip()[:1]
    if len(mark) > 1 and mark[:2] in ("..", "…"):
        # "I was, well ... tired": an ellipsis ends a sentence only if a new one visibly begins.
        return not follows.islower()
    word = _LAST_WORD.search(text, max(start, match.start() - 16), match.start() + 1)
    if word is None:
        return True
    name = word.group(1).lower()
    if name in _ABBREVIATIONS:
        return name in _MAY_END and (follows.isupper() or not follows)
    # The initial of a name, "J. Okafor"; the pronoun I is not an initial.
    return not (len(name) == 1 and name != "i" and name.isalpha() and text[match.start() - 1].isupper())


def _clauses(sentence: str) -> Iterator[str]:
    """Split at "and I …" if each half says something about the speaker by itself."""
    start = 0
    for match in (_ASKS if sentence.endswith("?") else _CLAUSE).finditer(sentence):
        left = sentence[start : match.start()]
        long_enough = left.count(" ") >= 2 and sentence.count(" ", match.end()) >= 2
        if long_enough and _HAS_FIRST_PERSON.search(left) and not _SUBORDINATE.search(left):
            yield left + "."
            start = match.end()
    yield sentence[start:]
