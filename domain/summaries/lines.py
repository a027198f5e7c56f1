"""Lines of a summary: one sentence each, with what it answers, who said it, where and when; and how they are shown.

Must not know: how lines are chosen.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

Facet = Literal["wanted", "decided", "executed", "state", "ended", "said"]
FACETS: tuple[Facet, ...] = get_args(Facet)
"""What a line answers, in the order in which they are shown."""

HEADINGS: dict[Facet, str] = {
    "wanted": "Wanted",
    "decided": "Decided",
    "executed": "Done",
    "state": "How it ended",
    "ended": "How it ended",
    "said": "Said",
}
"""What is blocked, refused or still open stands above how each conversation ended, under one heading."""


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence of a summary.

    text: one line, the speaker in the third person, without secrets; at: aware time of the event; seq: its place in
    `session`; weight: how much it matters beside other lines, higher is more; run: the id of the run whose milestone it
    is, if its task has one.
    """

    facet: Facet
    text: str
    speaker: str
    session: str
    seq: int
    at: datetime
    weight: float
    run: str | None = None

    @property
    def place(self) -> tuple[datetime, str, int, str]:
        """Where it stands in its day: by time, then by what tells lines of one time apart."""
        return (self.at, self.session, self.seq, self.text)

    def to_json(self) -> dict[str, Any]:
        """JSON object with the names of the fields; `at` as ISO time in UTC; `run` only if there is one."""
        run = {} if self.run is None else {"run": self.run}
        return {
            "facet": self.facet,
            "text": self.text,
            "speaker": self.speaker,
            "session": self.session,
            "seq": self.seq,
            "at": self.at.astimezone(UTC).isoformat(),
            "weight": self.weight,
        } | run

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Line":
        """The line that `to_json` wrote. Raises KeyError or ValueError where it is none."""
        facet = data["facet"]
        if facet not in FACETS:
            raise ValueError(f"a line's facet must be one of {', '.join(FACETS)}")
        return cls(
            facet,
            data["text"],
            data["speaker"],
            data["session"],
            int(data["seq"]),
            datetime.fromisoformat(data["at"]).astimezone(UTC),
            float(data["weight"]),
            data.get("run"),
        )


@dataclass(frozen=True, slots=True)
class DaySummary:
    """Lines by facet, then time. text: Markdown, a heading a facet and a bullet a line; "" without lines.

    levels: how often parts were merged, one over the other.
    """

    lines: tuple[Line, ...]
    text: str
    levels: int


def in_order(lines: Iterable[Line]) -> tuple[Line, ...]:
    """By facet, then time."""
    return tuple(sorted(lines, key=lambda line: (FACETS.index(line.facet), line.place)))


def as_markdown(lines: Iterable[Line]) -> str:
    """The lines under the headings of their facets; "" where there is none."""
    parts: list[str] = []
    heading = ""
    for line in in_order(lines):
        if HEADINGS[line.facet] != heading:
            heading = HEADINGS[line.facet]
            parts += [f"{'' if not parts else chr(10)}### {heading}"]
        parts.append(f"- {line.text}")
    return "\n".join(parts)


HEADING_WORDS = max(len(heading.split()) for heading in HEADINGS.values()) + 1
"""The most words of a heading with its sign, as `str.split` counts."""


def words_of(line: Line) -> int:
    """How many words its bullet has, with its sign."""
    return len(line.text.split()) + 1
