"""The memories of a scope that changed after a moment, in their state at that moment; `as_of` reads them."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID


@dataclass(slots=True)
class ScopeAsOf:
    """The memories that changed after a moment, as they were known at that moment.

    touched: the ids of all memories that changed later, including those not known at the moment. rows: the columns of
    the memories known at the moment. sources: their events, as (session id, seq).
    """

    touched: set[UUID] = field(default_factory=set)
    rows: list[dict[str, Any]] = field(default_factory=list)
    sources: dict[UUID, list[tuple[int, int]]] = field(default_factory=dict)
