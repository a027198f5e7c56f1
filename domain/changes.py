"""A change of a memory as people read it: made by a run, or planned by one that only shows what it would do.

Must not know: who made it, and how it is shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One line of a diff. memory: None for one that a plan would make; content: what it says, None if that is gone.

    before and after: what differs, as JSON has it. evidence: what it rests on, as `session#seq` or in words.
    """

    action: str
    memory: UUID | None
    content: str | None
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    reason: str
    evidence: tuple[str, ...] = ()
