"""Render the parts of a context besides memories: days with their summaries, events, contradictions.

The mark at the end of a line gives its origin. If a model repeats the line, the mark tells Slowwave that it is not new:

    [memory 5f035705]                   a memory, by the end of its UUID, which saves three quarters of the tokens;
                                        before the mark comes the date, and "until" if the memory has ended
    [day 2024-05-09 v2 monday#4]        a line of version 2 of that day's summary, from event 4 of session "monday"
    [said monday#4]                     an event
    [said #5]                           a further passage of the conversation and the day above

A memory or a passage without a date is of the day of the line above.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any, NamedTuple

from slowwave.recall.hits import Hit
from slowwave.recall.rendering import label, one_line, one_name

LABELS = {facet: facet for facet in ("wanted", "decided", "state", "ended", "said")} | {"executed": "done"}
"""How a context calls the question that a line answers, by the name of its facet."""
SHORT_ID = 8
"""Characters. Among a million memories, another one has the same end with a probability of 0.02 %."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """An event that no flush has processed, or that no summary covers.

    Attributes:
        session: the conversation.
        seq: the number of the event in the conversation.
        agent: the agent of the conversation.
        speaker: the name of the speaker.
        content: the beginning of the text, with secrets masked.
        at: the time (aware) at which it was said.
        scope: as in `Hit`.
    """

    session: str
    seq: int
    agent: str
    speaker: str
    content: str
    at: datetime
    scope: str | None

    @property
    def id(self) -> str:
        return f"{self.session}#{self.seq}"

    def to_json(self) -> dict[str, Any]:
        """Convert the event to JSON.

        Returns:
            Its attributes and its id, SESSION#SEQ; the time in ISO 8601.
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"id": self.id} | values | {"at": self.at.isoformat()}

    def to_line(self) -> str:
        """Render the event as a line of a context.

        Returns:
            The line with its mark.
        """
        said = f"{one_name(self.speaker)}: {one_line(self.content)}"
        return f"- {self.at:%Y-%m-%d %H:%M} {_place(self.scope)}{said} [said {label(self.id)}]"


class DayLine(NamedTuple):
    """A line of a day's summary.

    Attributes:
        facet: one of the keys of LABELS.
        content: the text in the third person, with its speaker.
        speaker: the name of the speaker.
        session: the conversation of its source event; None if unknown.
        seq: the number of that event.
        at: the time at which it was said.
        weight: lines with a higher weight are shown first if room is short.
    """

    facet: str
    content: str
    speaker: str | None = None
    session: str | None = None
    seq: int | None = None
    at: datetime | None = None
    weight: float = 0.0

    @property
    def id(self) -> str | None:
        return None if self.session is None or self.seq is None else f"{self.session}#{self.seq}"

    def to_json(self) -> dict[str, Any]:
        """Convert the line to JSON.

        Returns:
            Its attributes without `weight`; the time in ISO 8601.
        """
        names = ("facet", "content", "speaker", "session", "seq")
        at = None if self.at is None else self.at.isoformat()
        return {name: getattr(self, name) for name in names} | {"at": at}


@dataclass(frozen=True, slots=True)
class Day:
    """A local day of one agent in one scope.

    Attributes:
        day: the date.
        agent: the name of the agent.
        scope: as in `Hit`.
        version: the version of the newest summary; 0 without a summary.
        final: True if the day is over and the summary covers all its events.
        lines: the lines of the newest summary.
        unsummarised: the last events that the summary does not cover, oldest first.
    """

    day: date
    agent: str
    scope: str | None
    version: int
    final: bool
    lines: tuple[DayLine, ...] = ()
    unsummarised: tuple[Utterance, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Convert the day to JSON.

        Returns:
            Its attributes; the day in ISO 8601.
        """
        return {
            "day": self.day.isoformat(),
            "agent": self.agent,
            "scope": self.scope,
            "version": self.version,
            "final": self.final,
            "lines": [line.to_json() for line in self.lines],
            "unsummarised": [line.to_json() for line in self.unsummarised],
        }

    def line_text(self, line: DayLine) -> str:
        """Render a line of the summary with its mark.

        Args:
            line: one of `lines`.

        Returns:
            The line.
        """
        origin = "" if line.id is None else f" {label(line.id)}"
        mark = f"[day {self.day.isoformat()} v{self.version}{origin}]"
        facet = LABELS.get(line.facet) or one_name(line.facet)
        return f"- {_place(self.scope)}{facet}: {one_line(line.content)} {mark}"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two memories that contradict each other; nobody has decided which is right.

    Attributes:
        conflict: the number of the conflict, for `slowwave inbox show`.
        reason: the reason why they contradict each other.
        sides: the two memories; first the one that has been valid for longer.
    """

    conflict: int
    reason: str
    sides: tuple[Hit, Hit]

    def to_json(self) -> dict[str, Any]:
        """Convert the contradiction to JSON.

        Returns:
            Its attributes; the sides as `Hit.to_json` writes them, and their ids under "contradicting".
        """
        return {
            "conflict": self.conflict,
            "reason": self.reason,
            "contradicting": [side.id for side in self.sides],
            "sides": [side.to_json() for side in self.sides],
        }

    def to_line(self) -> str:
        """Render the contradiction as a line of a context.

        Returns:
            Both sides with their marks, in one line.
        """
        one, other = (_statement(side) for side in self.sides)
        return f"- {_place(self.sides[0].scope)}either {one} or {other}"


def hit_lines(hits: Iterable[Hit]) -> list[str]:
    """Render memories and passages by day and conversation; only the first line of each has the day and the name."""
    days: dict[str, dict[str, list[Hit]]] = {}
    for hit in hits:
        days.setdefault(day_of(hit) or hit.id, {}).setdefault(conversation_of(hit), []).append(hit)
    lines = []
    for sessions in days.values():
        told = [_line(hit, "" if place else name) for name, said in sessions.items() for place, hit in enumerate(said)]
        day = day_of(next(iter(sessions.values()))[0])
        lines += [f"{day} {told[0]}" if day else told[0], *told[1:]]
    return [f"- {line}" for line in lines]


def further_line(hit: Hit) -> str:
    """Render a hit below another one of the same day and conversation."""
    return f"- {_line(hit, '')}"


def day_of(hit: Hit) -> str:
    """Return the date that further lines leave out; "" for a memory that has ended, which always gives its period."""
    return period(hit) if hit.valid_to is None else ""


def conversation_of(hit: Hit) -> str:
    """Return the conversation of a passage, which further passages leave out; "" for a memory."""
    return label(hit.id.rpartition("#")[0]) if hit.kind == "event" else ""


def _line(hit: Hit, session: str) -> str:
    ended = "" if hit.valid_to is None else f"{period(hit)} "
    if hit.kind == "memory":
        return f"{ended}{_place(hit.scope)}{_marked(hit)}"
    said = f"{one_name(hit.speaker or '')}: {one_line(hit.content)}"
    return f"{_place(hit.scope)}{said} [said {session}#{hit.id.rpartition('#')[2]}]"


def period(hit: Hit) -> str:
    """Return the time in which a memory is valid: "2025-01-14", or "2025-01-14 until 2025-05-02" if it has ended."""
    since = f"{hit.valid_from:%Y-%m-%d}"
    return since if hit.valid_to is None else f"{since} until {hit.valid_to:%Y-%m-%d}"


def short_id(memory: str) -> str:
    """Return the end of a memory's UUID, which identifies the memory in a prompt."""
    return memory[-SHORT_ID:]


def wording(text: str) -> str:
    """Return the normalised words of a text, without case, spacing and final punctuation; equal ones are duplicates."""
    return " ".join(text.casefold().split()).rstrip(".!?… ")


def _statement(hit: Hit) -> str:
    return f"{period(hit)} {_marked(hit)}"


def _marked(hit: Hit) -> str:
    return f"{one_line(hit.content)} [memory {short_id(hit.id)}]"


def _place(scope: str | None) -> str:
    return "" if scope is None else f"({label(scope)}) "
