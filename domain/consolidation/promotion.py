"""Rules for making a memory active: it is likely true, and there is evidence that it matters.

    requested by a person     an instruction or a decision of a person; a memory that a person wrote
    reported by a tool        a result or a lesson of a tool call
    repeated                  at least two independent witnesses, and useful enough

A single statement in passing keeps its status, however certain its wording is; recall finds it anyway. Nothing else
counts, neither an end nor a conflict, so the result does not depend on the order in which events arrive (I9).
"""

from dataclasses import dataclass

from slowwave_server.domain.consolidation.known import MemoryRevision

WITNESSES = 2
"""Independent conversations, notes or files that state the memory."""
_PERSON = frozenset({"hand", "user"})
_ASKED = frozenset({"instruction", "decision"})
_FOUND = frozenset({"result", "lesson"})


@dataclass(frozen=True, slots=True)
class Bounds:
    """Minimum values from 0 to 1. confidence: for any promotion; importance: for a memory that no person requested."""

    confidence: float
    importance: float


def evidence_for(memory: MemoryRevision, witnesses: int, bounds: Bounds) -> str | None:
    """Return the evidence for making a memory active, in words, or None. witnesses: the number of independent
    witnesses.
    """
    if memory.confidence < bounds.confidence:
        return None
    if memory.trust == "hand":
        return "written by hand"
    if memory.trust in _PERSON and memory.type in _ASKED:
        return f"{'an' if memory.type == 'instruction' else 'a'} {memory.type} of a person"
    if memory.trust == "task" and memory.type in _FOUND:
        return f"a {memory.type} of a tool"
    if memory.importance < bounds.importance:
        return None
    return f"{witnesses} independent sources say it" if witnesses >= WITNESSES else None
