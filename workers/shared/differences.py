"""Describe the difference between two states of a memory in lines for people."""

from collections.abc import Iterator, Mapping
from typing import Any


def difference(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Iterator[str]:
    """Return the differences, one per line: "status inbox → archived", "target 0199…"."""
    was, became = before or {}, after or {}
    for key in dict.fromkeys((*was, *became)):
        if key not in became:
            yield f"{key} {_value(was[key])} → gone" if after is None else f"{key} {_value(was[key])}"
        elif key not in was:
            yield f"{key} {_value(became[key])}"
        elif was[key] != became[key]:
            yield f"{key} {_value(was[key])} → {_value(became[key])}"


def _value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_value(item)}" for key, item in value.items())
    return ", ".join(str(item) for item in value) if isinstance(value, list) else str(value)
