"""Lay out successive values as numbers for an SVG: a row for each, with a bar for the time in which it was valid."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

WIDTH = 760.0
LABELS = 190.0
"""The width on the left for the text of the values."""
RIGHT = 20.0
TOP, ROW, BAR = 8.0, 30.0, 14.0
BOTTOM = 26.0
TICKS = 4
LEAST_BAR = 3.0


@dataclass(frozen=True, slots=True)
class Held:
    """One value. until: None while it is valid; next: the key of the value that replaced it."""

    key: str
    words: str
    since: datetime
    until: datetime | None
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """One row: its middle and its bar. arrow: the SVG path to the value that replaced this one, or ""."""

    held: Held
    y: float
    x: float
    width: float
    arrow: str

    @property
    def holds(self) -> bool:
        return self.held.until is None


@dataclass(frozen=True, slots=True)
class Timeline:
    """A picture of WIDTH and `height`. ticks: (x, date) labels below the rows."""

    height: float
    spans: tuple[Span, ...]
    ticks: tuple[tuple[float, str], ...]


def draw_timeline(values: Sequence[Held], now: datetime) -> Timeline:
    """Return a row for each of `values`. A valid one ends at `now`, or one day after the latest start."""
    begin = min(value.since for value in values)
    end = max(now, *(value.since + timedelta(days=1) for value in values))
    whole = (end - begin).total_seconds()

    def x_of(moment: datetime) -> float:
        share = (moment - begin).total_seconds() / whole
        return round(LABELS + (WIDTH - LABELS - RIGHT) * min(1.0, max(0.0, share)), 1)

    rows = {value.key: TOP + ROW * place + ROW / 2 for place, value in enumerate(values)}
    spans = []
    for value in values:
        left, right, y = x_of(value.since), x_of(value.until or end), rows[value.key]
        arrow = ""
        if value.next in rows and value.next is not None and (below := rows[value.next]) != y:
            edge = below - BAR / 2 if below > y else below + BAR / 2
            arrow = f"M {right} {y + (BAR / 2 if below > y else -BAR / 2)} L {right} {edge}"
        spans.append(Span(value, y, left, max(LEAST_BAR, round(right - left, 1)), arrow))
    step = (end - begin) / TICKS
    ticks = tuple((x_of(begin + step * place), f"{begin + step * place:%Y-%m-%d}") for place in range(TICKS + 1))
    return Timeline(TOP + ROW * len(values) + BOTTOM, tuple(spans), ticks)
