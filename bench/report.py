"""Collect the rows of the common table: each benchmark notes its rows, and `python -m bench` combines them.

A row is written as a line of JSON to the file that BENCH_ROWS names; without this variable no row is written.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

FILE_VARIABLE = "BENCH_ROWS"


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison. ours, beside: medians in `unit`; ratio: the value for the bound; bound: "<= 1.5", or ""
    for none.
    """

    part: str
    what: str
    ours: float
    than: str
    beside: float
    unit: str
    ratio: float
    bound: str = ""

    @property
    def holds(self) -> bool | None:
        """Return True if the bound is reached; None without a bound."""
        if not self.bound:
            return None
        sign, number = self.bound.split()
        return self.ratio <= float(number) if sign == "<=" else self.ratio >= float(number)


def note(row: Row) -> None:
    """Add a row to the table of this run."""
    if name := os.environ.get(FILE_VARIABLE):
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")


def read(path: Path) -> list[Row]:
    """Return all rows noted so far."""
    return [Row(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def as_markdown(rows: list[Row]) -> str:
    """Return the table, for a document."""
    lines = [
        "| part | measured | ratio | bound | median | beside | median |",
        "| --- | --- | ---: | --- | ---: | --- | ---: |",
    ]
    for row in rows:
        verdict = {None: "", True: f"{row.bound} ✓", False: f"{row.bound} ✗"}[row.holds]
        lines.append(
            f"| {row.part} | {row.what} | {row.ratio:.2f} | {verdict} "
            f"| {_figure(row.ours)} {row.unit} | {row.than} | {_figure(row.beside)} {row.unit} |"
        )
    return "\n".join(lines)


def _figure(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
