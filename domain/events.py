"""Events of a conversation as the rules see them.

Must not know: where events are stored or how they arrived.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

EventKind = Literal["user", "assistant", "task"]


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a session.

    seq: position within the session, 1, 2, 3 … without gaps.
    kind: what the entry is; role: the name that the chat API gave it (`user`, `assistant`, `task`, `tool` …).
    name: who speaks, when the producer said so; happened_at: aware time of the utterance.
    metadata: what the producer attached, e.g. {"event": "run_finished"} for task milestones.
    """

    seq: int
    kind: EventKind
    role: str
    content: str
    happened_at: datetime
    name: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
