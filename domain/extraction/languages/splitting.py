"""Split text in other languages into sentences and clauses."""

import re
from collections.abc import Iterator

from slowwave_server.domain.extraction.languages import Language
from slowwave_server.domain.extraction.sentences import MAX_SENTENCE, MAX_WORD

_PLAIN = str.maketrans({"’": "'", "ʼ": "'", "\u00a0": " ", "\u202f": " ", "\r": "\n", "\x00": " "})
"""The table leaves quotation marks unchanged: they belong to the speaker's words."""
_END = re.compile(r"(?<![.!?…])[.!?…]+[\"'»)\]]{0,3}(?=\s|$)|\n+")
_END_UNSPACED = re.compile(r"(?<![。．！？!?…])[。．！？!?…]+[」』”\"）)]{0,3}|(?<=[^\d\s])\.(?=\s|$)|\n+")
_LAST_WORD = re.compile(r"([^\s(«\"]{1,12})\.$")
_BULLET = re.compile(r"^(?:[-*•>#・]{1,4}|\d{1,2}[.)、]) ?(?!\d)")
_MARKED = re.compile(r"\*\*|__|`")
_CLAUSE = re.compile(r"(?<!\d)[,;:](?=\s)|\s[–—-](?=\s)|[，；、：]")


def sentences(text: str, language: Language) -> Iterator[str]:
    """Yield the sentences of a text in order, trimmed, without list marks and emphasis marks."""
    for raw in _cut(text.translate(_PLAIN), language):
        sentence = _BULLET.sub("", _MARKED.sub("", " ".join(raw.split())))
        if not any(map(str.isalnum, sentence)):
            continue
        if language.spaced and max(map(len, sentence.split(" "))) > MAX_WORD:
            continue
        if len(sentence) > MAX_SENTENCE:
            sentence = _shortened(sentence)
        yield sentence


def clauses(sentence: str) -> list[str]:
    """Split a sentence at commas; each part keeps its comma, so that the joined parts are the sentence."""
    parts, start = [], 0
    for match in _CLAUSE.finditer(sentence):
        parts.append(sentence[start : match.end()])
        start = match.end()
    return [*parts, sentence[start:]]


def _shortened(sentence: str) -> str:
    return sentence[:MAX_SENTENCE].rsplit(" ", 1)[0] + " …"


def _cut(text: str, language: Language) -> Iterator[str]:
    start = 0
    for match in (_END if language.spaced else _END_UNSPACED).finditer(text):
        if not language.spaced or _is_end(text, start, match, language):
            yield text[start : match.end()]
            start = match.end()
    yield text[start:]


def _is_end(text: str, start: int, match: re.Match[str], language: Language) -> bool:
    mark = match.group()
    if "\n" in mark or "?" in mark or "!" in mark:
        return True
    follows = text[match.end() : match.end() + 12].lstrip()[:1]
    if len(mark) > 1:
        return not follows.islower()
    word = _LAST_WORD.search(text, max(start, match.start() - 14), match.start() + 1)
    if word is None or not follows:
        return True
    last = word.group(1)
    if last.lower() in language.abbreviations or (len(last) == 1 and last.isalpha() and last.isupper()):
        return False
    return not (language.ordinal_dot and last.isdigit() and len(last) <= 2)
