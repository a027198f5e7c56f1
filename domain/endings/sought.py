"""Decide which memories of a scope must be read so that new statements can end a memory or be ended by one.

Most scopes have no memory of these types, so that nothing has to be read and compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from slowwave_server.domain.endings.targets import CALLED_OFF, CORRECTED, OUTCOMES, may_end
from slowwave_server.domain.endings.wording import ending_of
from slowwave_server.domain.endings.work import may_settle

TAKEN_BACK = frozenset({"decision", "task", "instruction"})
"""Types that people take back most: the ending of such a memory may have been flushed before the memory itself (I9)."""
_INSTRUCTION = frozenset({"instruction"})
_TASK = frozenset({"task"})
_ENDED = {"called_off": CALLED_OFF, "corrected": CORRECTED, "lifted": _INSTRUCTION}


@dataclass(frozen=True, slots=True)
class Sought:
    """The stored memories of a scope to compare with new statements: those of live `types`, and any whose text declares
    an ending. within: one new statement can end another.
    """

    types: frozenset[str]
    within: bool


def is_concerned(content: str, kind: str) -> bool:
    """Return False if a statement certainly ends no other one and was ended by none before it arrived.

    The check is cheap, and False for most statements.
    """
    return kind in TAKEN_BACK or may_end(content, kind)


def sought(stored: Sequence[tuple[str, str]]) -> Sought | None:
    """Return which memories the new statements of a scope, (content, type), could end or be ended by; None if none."""
    asked = {at: _asked(*one) for at, one in enumerate(stored) if is_concerned(*one)}
    if not asked:
        return None
    within = len(stored) > 1 and any(
        at != other and (kind in types or ending_of(content) is not None)
        for at, types in asked.items()
        for other, (content, kind) in enumerate(stored)
    )
    return Sought(frozenset().union(*asked.values()), within)


def _asked(content: str, kind: str) -> frozenset[str]:
    ending = ending_of(content)
    if ending is not None:
        return _ENDED[ending.act]
    if kind == "instruction":
        return _INSTRUCTION
    settled = _TASK if kind in OUTCOMES and may_settle(content) else frozenset[str]()
    return settled | OUTCOMES if kind == "task" else settled
