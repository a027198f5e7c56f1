"""Format tables, times and ratios for the report."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return [*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)]


def seconds(value: float | None) -> str:
    """Return a time for people: 4 ms, 1.2 s, 3.5 min."""
    if value is None:
        return "-"
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 120 else f"{value / 60:.1f} min"


def count(value: float | None) -> str:
    """Return a number that may be missing, for people."""
    return "-" if value is None else f"{value:.0f}"


def times(value: float | None) -> str:
    """Return a ratio for people."""
    return "-" if value is None else f"{value:.2f}"
