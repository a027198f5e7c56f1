"""Read the record of a change: whether it set decided fields, and their values, converted back from JSON."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

DECIDED = ("status", "content", "type", "valid_to", "superseded_by", "merged_into", "archive_reason")
"""The fields that runs and people set. slowwave.score_memory computes all others from the sources."""

_TIMES = frozenset({"valid_to"})
_MEMORIES = frozenset({"superseded_by", "merged_into"})


def of_fields(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> bool:
    """Whether a change set decided fields: then `before` and `after` name the same ones, and no others."""
    was, became = set(before or {}), set(after or {})
    return bool(was) and was == became and was <= set(DECIDED)


def field_value(name: str, value: Any) -> Any:
    """The value of a decided field, from JSON."""
    if value is None:
        return None
    if name in _TIMES:
        return datetime.fromisoformat(value)
    return UUID(value) if name in _MEMORIES else value
