"""Deduplicate a context: leave out repeated lines.

A day's summary stays complete: a memory is left out if a summary has a line with the same content, and an event is left
out if a memory or a line has the same words. A contradiction is kept instead of all three. An event of a conversation
in progress is kept instead of the same event of the day. Two texts are duplicates if their words are equal, or if they
have the same source event and share most words.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from slowwave.recall.briefing import Context
from slowwave.recall.hits import Hit
from slowwave.recall.lines import Day, Utterance, wording

_SHARE = 0.75
"""Of its longer words: from so many on, a text says what another text from the same event says."""
_WORD = re.compile(r"\w{4,}")
_STEM = 6
"""Characters of a word that are compared: "moves" and "moved" are one."""
_MARK = re.compile(r"\b(?=\w*\d)(?=\w*[A-Z])\w{4,}\b")
Source = tuple[str, int]


def deduplicate(context: Context) -> Context:
    """Return the same context with each memory and each wording in one list only."""
    # Instructions come before all other parts. A memory of the profile is kept, because it has date, sources and mark.
    always = {one.id for one in context.instructions}
    sides = [side for conflict in context.conflicts for side in conflict.sides]
    disputed = {side.id for side in sides}
    in_dispute = {wording(side.content) for side in sides}
    days = [_without(day, in_dispute) for day in context.days]
    seen = _ShownText()
    for line in (line for day in days for line in day.lines):
        seen.add(line.content, () if line.session is None or line.seq is None else ((line.session, line.seq),))
    memories = _fresh(context.memories, disputed | always, seen)
    recent = _fresh(context.recent, disputed | always, seen)
    for one in context.instructions:
        seen.add(one.text, ())
    for hit in (*sides, *memories, *recent):
        seen.add(hit.content, hit.sources)
    passages = tuple(hit for hit in context.passages if not seen.says(hit.content))
    for hit in passages:
        seen.add(hit.content, hit.sources)
    elsewhere = tuple(line for line in context.elsewhere if not seen.has(line.content, _source(line)))
    live = {(line.agent, *_source(line)[0]) for line in context.elsewhere}
    shown = []
    for day in days:
        unsummarised = tuple(
            line
            for line in day.unsummarised
            if (line.agent, *_source(line)[0]) not in live and not seen.has(line.content, _source(line))
        )
        if day.lines or unsummarised:
            shown.append(replace(day, unsummarised=unsummarised))
    deduplicated = replace(context, memories=memories, passages=passages, recent=recent)
    return replace(deduplicated, days=tuple(shown), elsewhere=elsewhere)


class _ShownText:
    """The text that is shown so far: complete wordings, and the words of each source event."""

    def __init__(self) -> None:
        self._wordings: set[str] = set()
        self._of: dict[Source, list[_Words]] = {}

    def add(self, text: str, sources: Iterable[Source]) -> None:
        self._wordings.add(wording(text))
        for source in sources:
            self._of.setdefault(source, []).append(_Words.of(text))

    def says(self, text: str) -> bool:
        """Return True if a text with the same words is shown already."""
        return wording(text) in self._wordings

    def has(self, text: str, sources: Iterable[Source]) -> bool:
        """Return True if the content of a text from these events is shown already."""
        if self.says(text):
            return True
        near = [words for source in sources for words in self._of.get(source, ())]
        return bool(near) and any(_Words.of(text).are_in(words) for words in near)


@dataclass(frozen=True, slots=True)
class _Words:
    """The longer words of a text, and its identifiers."""

    stems: frozenset[str]
    marks: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "_Words":
        stems = (word.rstrip("s")[:_STEM] for word in _WORD.findall(text.casefold()))
        return cls(frozenset(stems), frozenset(_MARK.findall(text)))

    def are_in(self, other: "_Words") -> bool:
        """Return True if another text from the same event contains most of these words, and every identifier."""
        return self.marks <= other.marks and len(self.stems & other.stems) >= max(1, _SHARE * len(self.stems))


def _without(day: Day, disputed: Collection[str]) -> Day:
    lines = tuple(line for line in day.lines if wording(line.content) not in disputed)
    return day if len(lines) == len(day.lines) else replace(day, lines=lines)


def _fresh(hits: Iterable[Hit], disputed: Collection[str], seen: _ShownText) -> tuple[Hit, ...]:
    return tuple(hit for hit in hits if hit.id not in disputed and not seen.has(hit.content, hit.sources))


def _source(line: Utterance) -> tuple[Source]:
    return ((line.session, line.seq),)
