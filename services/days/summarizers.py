"""Summarizers make lines of events, and a summary of lines: the rules, or a model with the rules as fallback."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from slowwave_server.domain.events import Event
from slowwave_server.domain.model_calls import BudgetReached, ModelFailed
from slowwave_server.domain.redaction import redact
from slowwave_server.domain.summaries import SUMMARIZER, DaySummary, Line, merge_lines, summarize_segment

log = logging.getLogger(__name__)

LONGEST_LINE = 200
_PLAIN_WEIGHT = 0.1
FAN = 64
"""If a day has more parts, groups of this many parts are merged, so that memory use does not grow with the day."""
WIDER = 2
"""A merged part keeps this many times the words of a summary; the summary then selects from all parts."""

Lines = tuple[Line, ...]

FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""Errors of code that can't handle its input. A request to stop this process is not among them."""


@dataclass(frozen=True, slots=True)
class SegmentContext:
    """The agent and the session of the events. time_zone: the agent's time zone, as an IANA name."""

    agent: str
    session: str
    time_zone: str


class Summarizer(Protocol):
    """Makes lines from the events of a segment (a part of a session's day), and a summary from the lines of all parts.

    name: name and version; if the version changes, stored lines are made again. preceding: the events before the
    segment, if any.

    `segment` may raise TransientError (the day is retried later), BudgetReached or ModelFailed (the rules make the
    lines).
    """

    @property
    def name(self) -> str: ...

    def segment(self, events: Sequence[Event], told: SegmentContext, preceding: Sequence[Event]) -> Lines: ...

    def merge(self, parts: Sequence[Lines], *, max_words: int) -> DaySummary: ...


class Rules:
    """The rules of the domain."""

    name = SUMMARIZER

    def segment(self, events: Sequence[Event], told: SegmentContext, preceding: Sequence[Event]) -> Lines:
        return summarize_segment(
            events, session=told.session, agent=told.agent, time_zone=told.time_zone, preceding=preceding
        )

    def merge(self, parts: Sequence[Lines], *, max_words: int) -> DaySummary:
        return merge_lines(parts, max_words=max_words)


RULES = Rules()


@dataclass(frozen=True, slots=True)
class SummarizedLines:
    """The lines of a segment, and the name of their summarizer; if it failed, the name of the rules."""

    lines: Lines
    by: str


def make_lines(
    summarizer: Summarizer, events: Sequence[Event], told: SegmentContext, preceding: Sequence[Event]
) -> SummarizedLines:
    """Return lines of these events, by the rules if the summarizer fails. Raises TransientError."""
    try:
        return SummarizedLines(lines_of(summarizer, events, told, preceding), summarizer.name)
    except BudgetReached as cap:
        log.info("%d events of a day are summarised by the rules: %s", len(events), cap)
        by = waiting_for(summarizer)
    except ModelFailed as error:
        log.warning("%d events of a day are summarised by the rules: %s", len(events), error)
        by = instead_of(summarizer)
    return SummarizedLines(lines_of(RULES, events, told, preceding), by)


def instead_of(summarizer: Summarizer) -> str:
    """Return the name of the rules for events that the summarizer can't process; a retry would not help."""
    return f"{RULES.name} for {summarizer.name}"


def waiting_for(summarizer: Summarizer) -> str:
    """Return the name of the rules after a reached cap; these lines are made again when there is budget."""
    return f"{RULES.name} until {summarizer.name}"


def lines_of(
    summarizer: Summarizer, events: Sequence[Event], told: SegmentContext, preceding: Sequence[Event]
) -> Lines:
    """Return lines of these events. If the summarizer raises, each half is tried separately, until one event remains
    that it can't process. This event becomes a plain line with its text.
    """
    try:
        return summarizer.segment(events, told, preceding)
    except FAULTS as error:
        log.warning("%s failed on %d events of a day: %s", summarizer.name, len(events), type(error).__name__)
    if len(events) == 1:
        return (_plain(events[0], told.session),)
    middle = len(events) // 2
    first = lines_of(summarizer, events[:middle], told, preceding)
    return first + lines_of(summarizer, events[middle:], told, events[middle - 1 : middle])


def _plain(event: Event, session: str) -> Line:
    said = " ".join(redact(event.content).text.split())[:LONGEST_LINE] or "(no words)"
    speaker = redact(event.name or event.kind).text
    return Line("said", said, speaker, session, event.seq, event.happened_at, _PLAIN_WEIGHT)


class Folded:
    """Parts of a day, merged in a tree of fan `FAN` as they arrive. count: the number of parts so far."""

    def __init__(self, summarizer: Summarizer, max_words: int) -> None:
        self.count = 0
        self._summarizer = summarizer
        self._max_words = max_words
        self._levels: list[list[Lines]] = [[]]

    def add(self, part: Lines) -> None:
        """Add the next part. The same parts in the same order give the same summary."""
        self.count += 1
        for level in self._levels:
            level.append(part)
            if len(level) < FAN:
                return
            part = self._summarizer.merge(level, max_words=WIDER * self._max_words).lines
            level.clear()
        self._levels.append([part])

    def summary(self) -> DaySummary:
        """Return the summary of all parts."""
        parts = [part for level in self._levels for part in level]
        return self._summarizer.merge(parts, max_words=self._max_words)
