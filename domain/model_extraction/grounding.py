"""Check that evidence supports a sentence: it contains its names, numbers and dates, and some of its words."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from slowwave_server.domain.similarity.lexicon import is_common_word
from slowwave_server.domain.similarity.tokens import Token, tokenise

_MUST_OCCUR = frozenset({"name", "number", "date", "time"})
_SENTENCE = re.compile(r"(?<=[.!?:])\s+")
_PARTS = re.compile(r"[-/.&+#]")
_SAME_WORDS = 0.8
"""Minimum share of content words that a known statement must contain to make the new statement a repetition."""
_BORNE = 0.5
"""Minimum share of content words that the sources must contain to state the sentence themselves."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All words that may support a statement. forms: spellings, dictionary forms and stems."""

    forms: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str], days: Iterable[date] = ()) -> "Evidence":
        """Collect evidence. texts: events and speaker names; days: dates, which count in any spelling."""
        found: set[str] = set()
        for text in texts:
            for token in tokenise(text):
                found.update(_forms(token))
        for day in days:
            found.update(_day_forms(day))
        return cls(frozenset(found))

    def bears(self, content: str) -> bool:
        """Return True if the evidence has all names, numbers, times and dates of `content`, and one content word."""
        tokens = list(_tokens(content))
        if not all(self.has(token) for token in tokens if token.kind in _MUST_OCCUR):
            return False
        words = [token for token in tokens if token.kind == "word"]
        return not words or any(self.has(token) for token in words)

    def share(self, content: str, apart: frozenset[str]) -> float:
        """Return the share (0 to 1) of content words in the evidence; words of `apart` (speakers) do not count."""
        words = [token for token in _tokens(content) if token.carries_content and not _forms(token) & apart]
        return sum(map(self.has, words)) / len(words) if words else 0.0

    def has(self, token: Token) -> bool:
        """Return True if the evidence contains a word, in one of its forms."""
        if _forms(token) & self.forms:
            return True
        if token.kind in {"number", "date", "time"}:
            return False
        if f"{token.lower}s" in self.forms or token.lower.removesuffix("s") in self.forms:
            return True
        parts = [part for part in _PARTS.split(token.text) if part]
        capital = [part for part in parts if part[0].isupper() or part[0].isdigit()]
        return len(parts) > 1 and all(part.lower() in self.forms for part in capital or parts)


def repeats(content: str, known: str, apart: frozenset[str]) -> bool:
    """Return True if `content` has the words of a known statement. apart: forms of words that do not count."""
    return Evidence.of((known,)).share(content, apart) >= _SAME_WORDS


def says(evidence: Evidence, content: str, apart: frozenset[str]) -> bool:
    """Return True if the sources state `content` in words, not only by shared names and numbers."""
    return evidence.share(content, apart) >= _BORNE


def adds(evidence: Evidence, content: str, known: str) -> bool:
    """Return True if the sources contain a word of `content` that a known statement lacks."""
    before = Evidence.of((known,))
    words = [token for token in _tokens(content) if token.carries_content or token.kind in _MUST_OCCUR]
    return any(evidence.has(token) and not before.has(token) for token in words)


def _tokens(content: str) -> Iterable[Token]:
    """Yield the tokens; a capitalised common word at the start of any sentence is not a name."""
    for part in _SENTENCE.split(content):
        first, *rest = tokenise(part) or (None,)
        if first is not None:
            yield Token(first.text, first.lemma, "word", first.stem, first.lower) if _opens(first) else first
        yield from (token for token in rest if token is not None)


def _opens(token: Token) -> bool:
    return token.kind == "name" and is_common_word(token.lower)


def _forms(token: Token) -> frozenset[str]:
    found = {token.lower, token.lemma, token.stem}
    if token.kind in {"word", "name"}:
        found.update(part.lower() for part in _PARTS.split(token.text) if len(part) > 1)
    return frozenset(found)


def _day_forms(day: date) -> set[str]:
    """Return a day's spellings, without its bare number: "three dogs" is not the third of March."""
    return {day.isoformat(), f"{day:%m-%d}", f"{day:%m}-", f"{day:%Y}", f"{day:%A}".lower(), f"{day:%B}".lower()}
