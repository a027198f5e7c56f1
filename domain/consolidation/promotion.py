"""When a memory becomes active: it is likely true, and there is evidence that it matters.

    somebody asked for it     an instruction or a decision of a person; what a person wrote by hand
    a tool says so            a result or a lesson of a tool's call
    said again                at least two independent witnesses, and useful enough

A single statement in passing stays where it is, however sure its wording sounds: recall finds it there, too. Nothing
else counts, neither an end nor a conflict, so that the order in which things became known decides nothing (I9).

Must not know: where memories are stored.
"""

from dataclasses import dataclass

from slowwave_server.domain.consolidation.known import MemoryRevision

WITNESSES = 2
"""Conversations, notes or files that say it, each independent of the others."""
_PERSON = frozenset({"hand", "user"})
_ASKED = frozenset({"instruction", "decision"})
_FOUND = frozenset({"result", "lesson"})


@dataclass(frozen=True, slots=True)
class Bounds:
    """confidence: the least of any promotion; importance: the least of what nobody asked for. 0..1."""

    confidence: float
    importance: float


def evidence_for(memory: MemoryRevision, witnesses: int, bounds: Bounds) -> str | None:
    """What speaks for making a memory active, in words, or None. witnesses: independent ones."""
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
