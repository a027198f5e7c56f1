"""The charts of Home: lines over time as numbers for the browser, and a table with the same values in fewer rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import dropwhile
from typing import Literal

from slowwave_server.domain.spoken_time import duration_words
from slowwave_server.services.reports.history import Step

ROWS = 12
"""So many rows at most has the table of a chart."""
Unit = Literal["seconds", "count"]
Value = float | int | None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart, with one value per step; None for a step without a sample."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart. summary: its newest and its highest value, or its sum, in words. rows: (begin, values as words)."""

    title: str
    unit: Unit
    summary: str
    times: tuple[int, ...]
    lines: tuple[Line, ...]
    rows: tuple[tuple[datetime, tuple[str, ...]], ...]

    @property
    def plot(self) -> dict[str, object]:
        """Return the numbers that the browser draws."""
        lines = [{"name": line.name, "values": line.values} for line in self.lines]
        return {"times": self.times, "lines": lines, "unit": self.unit}


_GAUGE, _SUM = "gauge", "sum"
_CHARTS: tuple[tuple[str, Unit, str, tuple[tuple[str, Callable[[Step], Value]], ...]], ...] = (
    (
        "Time to memory",
        "seconds",
        _GAUGE,
        (("half of all", lambda step: step.lag_p50_seconds), ("95 %", lambda step: step.lag_p95_seconds)),
    ),
    ("Backlog of events", "count", _GAUGE, (("waiting", lambda step: step.events_waiting),)),
    ("Events processed", "count", _SUM, (("events", lambda step: step.events),)),
    (
        "Inbox",
        "count",
        _GAUGE,
        (("open", lambda step: step.inbox_open), ("decisions", lambda step: step.decisions)),
    ),
    ("Tokens of models", "count", _SUM, (("tokens", lambda step: step.tokens),)),
    ("Failures", "count", _SUM, (("failures", lambda step: step.failures),)),
)


def draw_charts(steps: Sequence[Step]) -> list[Chart]:
    """Return the charts of these steps from the first one with a sample on; none if no step has a sample."""
    known = list(dropwhile(lambda step: step.events is None, steps))
    return [_chart(known, *wanted) for wanted in _CHARTS] if known else []


def _chart(
    steps: Sequence[Step], title: str, unit: Unit, kind: str, wanted: Sequence[tuple[str, Callable[[Step], Value]]]
) -> Chart:
    lines = tuple(Line(name, tuple(map(_rounded, map(read, steps)))) for name, read in wanted)
    times = tuple(int(step.starts.timestamp()) for step in steps)
    size = -(-len(steps) // ROWS)
    rows = tuple(
        (steps[at].starts, tuple(_words(_joined(line.values[at : at + size], kind), unit) for line in lines))
        for at in range(0, len(steps), size)
    )
    return Chart(title, unit, _summary(lines[0].values, unit, kind), times, lines, rows)


def _summary(values: Sequence[Value], unit: Unit, kind: str) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "none"
    if kind == _SUM:
        return f"{_words(sum(known), unit)} in all"
    return f"{_words(known[-1], unit)}, at most {_words(max(known), unit)}"


def _joined(values: Sequence[Value], kind: str) -> Value:
    known = [value for value in values if value is not None]
    if not known:
        return None
    return sum(known) if kind == _SUM else max(known)


def _rounded(value: Value) -> Value:
    return round(value, 2) if isinstance(value, float) else value


def _words(value: Value, unit: Unit) -> str:
    if value is None:
        return "none"
    return duration_words(float(value)) if unit == "seconds" else f"{value:,.0f}"
