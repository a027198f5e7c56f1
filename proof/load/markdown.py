"""Tables, times and ratios as the report writes them. Pure."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Answer a Markdown table."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return [*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)]


def seconds(value: float | None) -> str:
    """Answer a time as people read it: 4 ms, 1.2 s, 3.5 min."""
    if value is None:
        return "-"
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 120 else f"{value / 60:.1f} min"


def count(value: float | None) -> str:
    """Answer a number that may be missing, as people read it."""
    return "-" if value is None else f"{value:.0f}"


def times(value: float | None) -> str:
    """Answer a ratio."""
    return "-" if value is None else f"{value:.2f}"
