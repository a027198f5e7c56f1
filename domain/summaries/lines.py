"""Lines of a summary: one sentence each, with facet, speaker, session and time, and their Markdown."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

Facet = Literal["wanted", "decided", "executed", "state", "ended", "said"]
FACETS: tuple[Facet, ...] = get_args(Facet)
"""The facets in display order."""

HEADINGS: dict[Facet, str] = {
    "wanted": "Wanted",
    "decided": "Decided",
    "executed": "Done",
    "state": "How it ended",
    "ended": "How it ended",
    "said": "Said",
}
"""Blocked, refused and open work appears before the endings, under the same heading."""


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence of a summary.

    Attributes:
        text: the sentence on one line, with the speaker in the third person, without secrets.
        at: the aware time of the event.
        seq: the number of the event in `session`.
        weight: the importance relative to other lines; higher is more important.
        run: the id of the run of a milestone, if the task has one.
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
        """The sort key within a day: time, then session, seq and text."""
        return (self.at, self.session, self.seq, self.text)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object with the field names; `at` is ISO time in UTC, `run` is present only if it is set."""
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
        """Parse the result of `to_json`. Raises KeyError or ValueError if `data` is not a line."""
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
    """The lines of a day, by facet, then time. text: their Markdown, "" without lines; levels: the number of merge
    levels.
    """

    lines: tuple[Line, ...]
    text: str
    levels: int


def in_order(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Sort lines by facet, then time."""
    return tuple(sorted(lines, key=lambda line: (FACETS.index(line.facet), line.place)))


def as_markdown(lines: Iterable[Line]) -> str:
    """Render the lines below the headings of their facets; "" without lines."""
    parts: list[str] = []
    heading = ""
    for line in in_order(lines):
        if HEADINGS[line.facet] != heading:
            heading = HEADINGS[line.facet]
            parts += [f"{'' if not parts else chr(10)}### {heading}"]
        parts.append(f"- {line.text}")
    return "\n".join(parts)


HEADING_WORDS = max(len(heading.split()) for heading in HEADINGS.values()) + 1
"""Maximum words of a heading, its Markdown sign included, as `str.split` counts."""


def words_of(line: Line) -> int:
    """Count the words of the line's bullet, including its Markdown sign."""
    return len(line.text.split()) + 1
