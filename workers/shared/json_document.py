"""Turn reports into JSON types."""

import dataclasses
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID


def document(value: Any) -> Any:
    """Return a value as JSON types: dataclasses as objects, times in ISO 8601, ids and paths as text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: document(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): document(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [document(item) for item in value]
    return value if value is None or isinstance(value, (str, int, float)) else _word(value)


def _word(value: Any) -> str:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (UUID, Path)):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
