"""Compute a bar chart as numbers for an SVG: one bar for each day, and a line for a limit."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640.0, 180.0
TOP, BOTTOM = 16.0, 24.0
GAP = 0.25
"""The share of a bar's width that stays empty."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar. height: 0 draws nothing. label: the text below the bar, "" for most bars."""

    x: float
    y: float
    width: float
    height: float
    words: str
    label: str


@dataclass(frozen=True, slots=True)
class BarChart:
    """A bar chart within WIDTH and HEIGHT. limit_y: of the limit's line, or None; most: of the scale."""

    bars: tuple[Bar, ...]
    base_y: float
    limit_y: float | None
    most: int


def draw_bar_chart(values: Sequence[tuple[int, str, str]], *, limit: int | None) -> BarChart:
    """Return the BarChart for (value, words, label) tuples from left to right. values: not negative.

    A limit above four times the largest value is not drawn, because every bar would be almost flat on such a scale.
    """
    largest = max((value for value, _, _ in values), default=0)
    shown = limit is not None and limit <= max(1, largest) * 4
    most = max(1, largest, limit if shown and limit is not None else 0)
    base = HEIGHT - BOTTOM
    room = WIDTH / max(1, len(values))

    def y_of(value: int) -> float:
        return round(base - (base - TOP) * value / most, 1)

    bars = tuple(
        Bar(
            x=round(room * place + room * GAP / 2, 1),
            y=y_of(value),
            width=round(room * (1 - GAP), 1),
            height=round(base - y_of(value), 1),
            words=words,
            label=label,
        )
        for place, (value, words, label) in enumerate(values)
    )
    return BarChart(bars, base, y_of(limit) if shown and limit is not None else None, most)
