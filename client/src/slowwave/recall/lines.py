"""What a context is made of besides memories: days with their summaries, things said, contradictions. Each knows where
it comes from, and how it reads as a line.

The mark at the end of a line says its origin, and tells a memory that hears the line again that it is no news:

    [memory 33cc5f035705]               a memory, by the last group of its id, which says as much in a third of the
                                        tokens; before it stands since when it holds, and "until" if it has ended
    [day 2024-05-09 v2 monday#4]        a line of version 2 of that day's summary, made from the session's event
    [said monday#4]                     an event

Must not know: where they are read, which of them are shown.
"""

from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any, NamedTuple

from slowwave.recall.hits import Hit
from slowwave.recall.rendering import label, one_line, one_name

LABELS = {facet: facet for facet in ("wanted", "decided", "state", "ended", "said")} | {"executed": "done"}
"""How a context calls the question that a line answers, by the name of its facet."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """Something said elsewhere, as it was said: no flush has read it yet, or no summary. content: its beginning, with
    what looks like a secret masked.
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
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"id": self.id} | values | {"at": self.at.isoformat()}

    def to_line(self) -> str:
        said = f"{one_name(self.speaker)}: {one_line(self.content)}"
        return f"- {self.at:%Y-%m-%d %H:%M} {_place(self.scope)}{said} [said {label(self.id)}]"


class DayLine(NamedTuple):
    """A line of a day's summary; a tuple, since a context is made of hundreds.

    content: in the third person, who said it included; facet: one of those of LABELS; session,
    seq, at: the event behind it, None where nobody knows; weight: the higher, the sooner it is shown where not all of
    them can be.
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
        names = ("facet", "content", "speaker", "session", "seq")
        at = None if self.at is None else self.at.isoformat()
        return {name: getattr(self, name) for name in names} | {"at": at}


@dataclass(frozen=True, slots=True)
class Day:
    """A local day of one agent in one scope.

    version: of its newest summary, whose lines these are; 0 where there is none. final: the day is over and nothing
    was added since. unsummarised: the last of what the summary doesn't cover, oldest first.
    """

    day: date
    agent: str
    scope: str | None
    version: int
    final: bool
    lines: tuple[DayLine, ...] = ()
    unsummarised: tuple[Utterance, ...] = ()

    def to_json(self) -> dict[str, Any]:
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
        """A line of its summary, with its mark."""
        origin = "" if line.id is None else f" {label(line.id)}"
        mark = f"[day {self.day.isoformat()} v{self.version}{origin}]"
        facet = LABELS.get(line.facet) or one_name(line.facet)
        return f"- {_place(self.scope)}{facet}: {one_line(line.content)} {mark}"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two memories that can't both hold, undecided as yet: both are shown, the one that is said to hold longer first.

    conflict: its number, as `slowwave inbox` has it.
    """

    conflict: int
    reason: str
    sides: tuple[Hit, Hit]

    def to_json(self) -> dict[str, Any]:
        return {
            "conflict": self.conflict,
            "reason": self.reason,
            "contradicting": [side.id for side in self.sides],
            "sides": [side.to_json() for side in self.sides],
        }

    def to_line(self) -> str:
        one, other = (_statement(side) for side in self.sides)
        return f"- {_place(self.sides[0].scope)}either {one} or {other}"


def hit_line(hit: Hit) -> str:
    """A memory, or a passage of what was said, as a line with its mark."""
    if hit.kind == "memory":
        return f"- {_place(hit.scope)}{_statement(hit)}"
    said = f"{one_name(hit.speaker or '')}: {one_line(hit.content)}"
    return f"- {hit.valid_from:%Y-%m-%d} {_place(hit.scope)}{said} [said {label(hit.id)}]"


def period(hit: Hit) -> str:
    """Since when a memory holds, and until when it held if it has ended: "2025-01-14 until 2025-05-02"."""
    since = f"{hit.valid_from:%Y-%m-%d}"
    return since if hit.valid_to is None else f"{since} until {hit.valid_to:%Y-%m-%d}"


def short_id(memory: str) -> str:
    """The last group of a memory's id, by which a prompt names it."""
    return memory.rpartition("-")[2]


def wording(text: str) -> str:
    """The words of a text, whatever its capitals, blanks and last sign: equal where two texts say the same."""
    return " ".join(text.casefold().split()).rstrip(".!?… ")


def _statement(hit: Hit) -> str:
    return f"{period(hit)} {one_line(hit.content)} [memory {short_id(hit.id)}]"


def _place(scope: str | None) -> str:
    return "" if scope is None else f"({label(scope)}) "
