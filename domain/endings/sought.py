"""Which memories a scope must hold for new statements to end one of them, or to have been ended before they arrived.

Most scopes hold none of those that a statement asks for: then nothing has to be read and compared.

Must not know: where memories are stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from slowwave_server.domain.endings.targets import CALLED_OFF, CORRECTED, OUTCOMES, may_end
from slowwave_server.domain.endings.wording import ending_of
from slowwave_server.domain.endings.work import may_settle

TAKEN_BACK = frozenset({"decision", "task", "instruction"})
"""Types that people take back most: what ended one of them may have been flushed before it (I9)."""
_INSTRUCTION = frozenset({"instruction"})
_TASK = frozenset({"task"})
_ENDED = {"called_off": CALLED_OFF, "corrected": CORRECTED, "lifted": _INSTRUCTION}


@dataclass(frozen=True, slots=True)
class Sought:
    """What new statements ask of their scope.

    types: one live memory of these types may end or be ended. One that tells an ending may too, whatever its type.
    within: whether the new statements may end each other.
    """

    types: frozenset[str]
    within: bool


def is_concerned(content: str, kind: str) -> bool:
    """Whether a statement may end others, or may have been ended before it arrived. Cheap: most are not."""
    return kind in TAKEN_BACK or may_end(content, kind)


def sought(stored: Sequence[tuple[str, str]]) -> Sought | None:
    """What statements that a scope did not have before, each with its type, ask of it; None if nothing."""
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
