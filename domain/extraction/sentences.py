"""Split chat text into sentences.

Statements are kept or dropped sentence by sentence, so the split decides the content of a memory. Linear in the length
of the text.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

MAX_SENTENCE = 400
"""Characters. A longer clause without an end is cut at a space and marked with an ellipsis."""
MAX_WORD = 80
"""Characters. A longer unbroken run is data (a hash, an encoded file), not language: its sentence is dropped."""

WRAPPED = 55
"""Minimum characters of a line that may continue on the next line."""

_APOSTROPHES = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "“": '"', "”": '"', "\u00a0": " ", "\r": "\n", "\x00": " "}
)
# The look-behind starts a match only at the first of several marks; otherwise, each mark of a long run would be tried.
_END = re.compile(r"(?<![.!?…])[.!?…]+[\"')\]]{0,3}(?=\s|$)|\n+|(?<=[a-z]{2})[.!?](?=(?:[A-Z][a-z]{1,20}|I) [a-z])")
_LAST_WORD = re.compile(r"([^\s.]{1,12}(?:\.[^\s.]{1,3}){0,3})\.$")
_ABBREVIATIONS = frozenset(
    "dr mr mrs ms prof st sr jr vs etc e.g i.e eg ie approx dept est fig no vol inc ltd co corp mt ave rd jan feb mar "
    "apr jun jul aug sep sept oct nov dec gen col sgt capt rev hon a.m p.m am pm u.s u.k u.s.a ph.d b.a m.a".split(),
)
_MAY_END = frozenset("etc inc ltd co corp a.m p.m am pm u.s u.k u.s.a ph.d b.a m.a jr sr st no ave rd".split())
_LIST_NUMBER = re.compile(r"\s*\d{1,2}\.")
_BULLET = re.compile(r"^(?:[-*•>#]{1,4}|\d{1,2}[.)]) ")
_BULLET_MARKS = frozenset("-*•>#0123456789")
# An independent clause: "I teach maths, and I have two dogs" contains two facts.
_CLAUSE = re.compile(
    r"(?:\s*[,;]\s*|\s+)(?:and|but)\s+(?=(?:i|we)(?:'(?:m|ve|ll|d|re))?\s+[a-z])|\s*;\s+", re.IGNORECASE
)
# "I have two dogs, do you have any?": the statement is separated from the question.
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


# "My partner and I went": both nouns form one subject.
_COMPOUND = re.compile(
    r"(?:^|[,;:-]\s|\b(?:so|when|where|that|because|since|as|and|but|today|yesterday|recently)\s|"
    r"\bwas [\w ]{2,20}[-,:]\s)(?:(?:my|our|his|her|their|the|a|an)\s(?:[\w'-]+\s){0,2}[\w'-]+|[A-Z][\w'-]+)$",
)


def normalise(text: str) -> str:
    """Return the text with straight quotes and plain spaces; the length stays the same."""
    if text.isascii() and "\r" not in text and "\x00" not in text:
        return text
    return text.translate(_APOSTROPHES)


@lru_cache(maxsize=64)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of `text` in order, trimmed, without list marks; independent clauses come one by one.

    The last texts are cached, because ten readers ask for the sentences of one turn.
    """
    return tuple(_sentences(text))


def _sentences(text: str) -> Iterator[str]:
    for raw in _cut(normalise(text)):
        sentence = " ".join(raw.split())
        if sentence[:1] in _BULLET_MARKS:
            sentence = _BULLET.sub("", sentence)
        if not sentence or (len(sentence) <= MAX_SENTENCE and _is_data(sentence)):
            continue
        yield from (part for part in _clauses(sentence) if len(sentence) <= MAX_SENTENCE or not _is_data(part))


def _is_data(sentence: str) -> bool:
    return len(sentence) > MAX_WORD and max(map(len, sentence.split(" "))) > MAX_WORD


def _cut(text: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(text):
        if _is_end(text, start, match):
            yield text[start : match.end()]
            start = match.end()
    yield text[start:]


def _is_end(text: str, start: int, match: re.Match[str]) -> bool:
    mark = match.group()
    if mark == "\n" or _LIST_NUMBER.fullmatch(text, start, match.end()):
        return mark == "\n" and not _is_wrapped(text, match.start())
    if "\n" in mark or "?" in mark or "!" in mark:
        return True
    follows = text[match.end() : match.end() + 12].lstrip()[:1]
    if len(mark) > 1 and mark[:2] in ("..", "…"):
        # "I was, well ... tired": an ellipsis ends a sentence only if a new sentence visibly begins.
        return not follows.islower()
    word = _LAST_WORD.search(text, max(start, match.start() - 16), match.start() + 1)
    if word is None:
        return True
    name = word.group(1).lower()
    if name in _ABBREVIATIONS:
        return name in _MAY_END and (follows.isupper() or not follows)
    # The initial of a name, "J. Okafor"; the pronoun "I" is not an initial.
    return not (len(name) == 1 and name != "i" and name.isalpha() and text[match.start() - 1].isupper())


def _is_wrapped(text: str, at: int) -> bool:
    """Return True if a line break is inside a sentence, as in mails: after a long line and before a small letter."""
    return at - (text.rfind("\n", 0, at) + 1) >= WRAPPED and text[at + 1 : at + 2].islower()


def _clauses(sentence: str) -> Iterator[str]:
    """Split at "and I …" if both halves are statements about the speaker."""
    start = 0
    for match in (_ASKS if sentence.endswith("?") else _CLAUSE).finditer(sentence):
        left = sentence[start : match.start()]
        if len(left) > MAX_SENTENCE:
            yield _shortened(left)
            start = match.end()
        elif _has_words(left, 0) and _has_words(sentence, match.end()) and _stands_alone(left):
            yield left + "."
            start = match.end()
    yield _shortened(sentence[start:])


def _shortened(clause: str) -> str:
    return clause if len(clause) <= MAX_SENTENCE else clause[:MAX_SENTENCE].rsplit(" ", 1)[0] + " …"


def _has_words(text: str, at: int) -> bool:
    """Return True if three words follow."""
    first = text.find(" ", at)
    return first >= 0 and text.find(" ", first + 1) >= 0


def _stands_alone(left: str) -> bool:
    joined = _SUBORDINATE.search(left) or _COMPOUND.search(left)
    return _HAS_FIRST_PERSON.search(left) is not None and joined is None
