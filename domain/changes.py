"""A change of a memory as people read it. A run made the change, or a dry run planned it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One line of a diff. memory: its id, None if a plan would create the memory; content: its text, None if it was
    deleted.

    before, after: the values that differ, as JSON. evidence: the sources, as `session#seq` or in words.
    """

    action: str
    memory: UUID | None
    content: str | None
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    reason: str
    evidence: tuple[str, ...] = ()
