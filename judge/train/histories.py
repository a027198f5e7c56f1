"""Read written histories of values that change: the files of tests/integration/histories.

A file contains one history a paragraph: "# name", then a line for each statement: "DATE VALUE TEXT". VALUE counts the
values of the history from 1; "-" marks a statement about another thing, which must stay valid.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "tests" / "integration" / "histories"


@dataclass(frozen=True, slots=True)
class Told:
    """One statement. value: 0 if it is about another thing."""

    at: datetime
    value: int
    text: str


@dataclass(frozen=True, slots=True)
class History:
    """The statements of one history, in the order of event time."""

    name: str
    told: tuple[Told, ...]


def read_histories(name: str) -> list[History]:
    """Return the histories of a file."""
    found = []
    for paragraph in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip().split("\n\n"):
        title, *lines = paragraph.splitlines()
        found.append(History(title.removeprefix("# "), tuple(_told(line) for line in lines)))
    return found


def _told(line: str) -> Told:
    day, value, words = line.split(" ", 2)
    at = datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC)
    return Told(at, 0 if value == "-" else int(value), words)
