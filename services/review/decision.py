"""The decision of a person about a question or a conflict."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

Kind = Literal["item", "conflict"]
"""The subject of a decision: a question or a conflict."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision of a person.

    The decisions: accept: answers may use the memory; for a conflict, the later statement is right. reject: the memory
    is wrong; for a conflict, the two do not contradict each other: both are right. merge: both say the same, and
    `memory` stays (None: the one with the better witness). keep: for a conflict, `memory` is right. neither: for a
    conflict, both are wrong. lapse: no answer in time. seen: the memories that the person saw, with their revisions; if
    the case has another memory, or one has changed since, the decision is refused. None: accept the present memories.
    """

    kind: Literal["accept", "reject", "merge", "keep", "neither", "lapse"]
    memory: UUID | None = None
    seen: Mapping[UUID, int] | None = None
