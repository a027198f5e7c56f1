"""Read the times in a question: an interval, an event that limits it, the order of the expected answer.

    hints.py      a fast check whether a question may contain a time
    words.py      a question as tokens, by the words of its language (languages/*.json)
    grammar.py    borders and ranges of times, made of points
    points.py     points of time: patterns over the tokens
    spans.py      the calendar

All modules but hints.py are loaded when the first question contains a word for a time.
"""

import re
from dataclasses import dataclass
from datetime import datetime, time
from typing import TYPE_CHECKING, Literal

from slowwave.recall.times.hints import hints_at_time

if TYPE_CHECKING:
    from slowwave.recall.times.grammar import Named
    from slowwave.recall.times.words import Language

Asked = Literal["first", "latest", "chronological"]
Relation = Literal["before", "after", "since", "during", "until"]

SHORT, LONGEST = 100, 400
"""Characters: of a text of several sentences that is not short only the last question is read, if that isn't too long:
what is told beside it speaks of times that nobody asks for.
"""

LONGEST_SAYS = 4000
"""So many characters of a text are looked at."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A time interval. begin: the first instant, end: the first instant after it, both aware or None for an open side.

    exact: True if the question names the year.
    """

    begin: datetime | None
    end: datetime | None
    exact: bool = False

    def holds(self, moment: datetime) -> bool:
        """Return True if the time is inside the interval."""
        return (self.begin is None or self.begin <= moment) and (self.end is None or moment < self.end)


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event that limits a time: "before I moved". text: the text to search for."""

    relation: Relation
    text: str


@dataclass(frozen=True, slots=True)
class TimeQuestion:
    """The times in a query.

    interval: the interval that the query names, or None; strict: True if documents outside the interval are excluded;
    anchor: the event to look up if a clause names an event without a date; order: "first" or "latest" for the earliest
    or newest, "chronological" for the order of events and the time between them; asks_when: True if the answer is a
    time. rest: the text to search for, in which "last month" or "letzten Mai" is replaced by the date in English words,
    as documents are indexed. language: the query's language.
    """

    rest: str
    language: str = "en"
    interval: Interval | None = None
    strict: bool = False
    anchor: Anchor | None = None
    order: Asked | None = None
    asks_when: bool = False


def read_times(question: str, now: datetime) -> TimeQuestion:
    """Read the times of a question that is asked at `now` (aware), in the time zone of `now`."""
    lower = question.lower()
    # A few letters become longer in lower case; then offsets in the two texts differ, and no time is read.
    if len(lower) == len(question) and hints_at_time(lower):
        spoken, asked, offset = _asked(lower)
        if asked:
            return _read(question, asked, offset, spoken, now)
    return TimeQuestion(question)


def asks_order(question: str) -> bool:
    """Return True if a query asks for the order of events, or for the time between them."""
    lower = question[:LONGEST_SAYS].lower()
    if not hints_at_time(lower):
        return False
    spoken, asked, _ = _asked(lower)
    return spoken.has("ordered", asked)


def says_time(text: str, language: str) -> bool:
    """Return True if a text in this language says when something happened."""
    from slowwave.recall.times.words import language as spoken  # noqa: PLC0415 (for the few questions that ask for it)

    return spoken(language).has("says", text[:LONGEST_SAYS].lower())


_SENTENCES = re.compile(r"(?<=[!?\n])|(?<=\.)(?=\s)(?!\s+\d)")


def _asked(lower: str) -> tuple["Language", str, int]:
    """Return the language of a query, the part to parse, and the offset of this part."""
    from slowwave.recall.times.words import language_of  # noqa: PLC0415 (where a question has words for a time)

    sentences = [lower] if len(lower) <= SHORT else _SENTENCES.split(lower)
    if len(sentences) == 1:
        sentences = [lower] if len(lower) <= LONGEST else []
        return language_of(lower), "".join(sentences), 0
    asked, offset, place = "", 0, 0
    for sentence in sentences:
        if sentence.endswith("?") and len(sentence) <= LONGEST:
            asked, offset = sentence, place
        place += len(sentence)
    return language_of(asked), asked, offset


def _read(question: str, asked: str, offset: int, spoken: "Language", now: datetime) -> TimeQuestion:
    from slowwave.recall.times.grammar import Grammar  # noqa: PLC0415 (where a question has words for a time)
    from slowwave.recall.times.spans import in_words  # noqa: PLC0415 (the same)
    from slowwave.recall.times.words import tokens  # noqa: PLC0415 (the same)

    found = tokens(asked, spoken)
    times = Grammar(
        found,
        now.date(),
        american=spoken.code == "en",
        compound=lambda token: asked[token.start : token.end] in spoken.compounds,
    ).times()
    if spoken.has("ahead", asked):
        # "What should I do today?" asks for earlier statements.
        times = [named for named in times if not named.span.holds(now.date())]
    chosen = max(times, key=lambda named: (named.span.year, not named.indirect, -named.start), default=None)
    interval = None if chosen is None else _interval(chosen, now)
    rest = question
    for named in reversed(times):
        if named.indirect or spoken.code != "en":
            rest = f"{rest[: offset + named.start]}{in_words(named.span)}{rest[offset + named.end :]}"
    ordered = spoken.has("ordered", asked)
    order: Asked | None = "chronological" if ordered else None
    order = order or ("first" if spoken.has("first", asked) else "latest" if spoken.has("latest", asked) else None)
    return TimeQuestion(
        rest=rest,
        language=spoken.code,
        interval=interval,
        strict=interval is not None and spoken.has("strict", asked),
        anchor=None if times else _anchor(question[offset : offset + len(asked)], spoken),
        order=order,
        asks_when=ordered or spoken.has("when", asked),
    )


def _interval(named: "Named", now: datetime) -> Interval:
    begin, end = (
        None if day is None else datetime.combine(day, time(), now.tzinfo) for day in (named.span.begin, named.span.end)
    )
    return Interval(begin, end, named.span.year)


_CLAUSE_END = re.compile(r"[,;:?!\n]|\.(?:\s|$)")
_MIN_ANCHOR = 3
_MAX_ANCHOR_WORDS = 12


def _anchor(asked: str, spoken: "Language") -> Anchor | None:
    """Return the clause after the first word that makes an event a limit."""
    for word, relation in spoken.anchors:
        match = re.search(rf"(?<!\w){word}\s+", asked, re.IGNORECASE)
        if match is None:
            continue
        end = _CLAUSE_END.search(asked, match.end())
        text = asked[match.end() : end.start() if end else len(asked)].strip()
        if len(text) >= _MIN_ANCHOR and len(text.split()) <= _MAX_ANCHOR_WORDS:
            return Anchor(_RELATIONS[relation], text)
    return None


_RELATIONS: dict[str, Relation] = {
    "before": "before",
    "after": "after",
    "since": "since",
    "during": "during",
    "until": "until",
}
