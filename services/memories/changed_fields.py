"""Read the record of a change: check whether it set decided fields, and convert their values back from JSON."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

DECIDED = ("status", "content", "type", "valid_to", "superseded_by", "merged_into", "archive_reason")
"""The fields that runs and people set. slowwave.score_memory computes all others from the sources."""

_TIMES = frozenset({"valid_to"})
_MEMORIES = frozenset({"superseded_by", "merged_into"})


def of_fields(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> bool:
    """Return True if a change set decided fields; `before` and `after` then have the same fields and no others."""
    was, became = set(before or {}), set(after or {})
    return bool(was) and was == became and was <= set(DECIDED)


def field_value(name: str, value: Any) -> Any:
    """Return the value of a decided field, from JSON."""
    if value is None:
        return None
    if name in _TIMES:
        return datetime.fromisoformat(value)
    return UUID(value) if name in _MEMORIES else value
