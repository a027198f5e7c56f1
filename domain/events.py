"""Events of a conversation as the rules see them.

Must not know: where events are stored or how they arrived.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

EventKind = Literal["user", "assistant", "task", "tool"]


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a session.

    seq: position within the session, 1, 2, 3 … without gaps.
    kind: what the entry is; role: the name that the chat API gave it (`user`, `assistant`, `task` …), of a tool
    `tool_call` or `tool`.
    name: who speaks, when the producer said so; happened_at: aware time of the utterance.
    metadata: what the producer attached, e.g. {"event": "run_finished"} for task milestones.

    A tool's call and its result are two events of kind `tool` (slowwave.tool_events makes them):

        role         content                                          metadata
        tool_call    cancel_booking(booking_id="ZX4", refund=true)    {"tool", "tool_call_id"}
        tool         status: cancelled⏎refund: 120                    {"tool", "tool_call_id", "error"?}

    Arguments are JSON values; a result that is a JSON object has a line `key: value` for each key, where a nested value
    is JSON. `name` is what is shown: "tool cancel_booking".
    """

    seq: int
    kind: EventKind
    role: str
    content: str
    happened_at: datetime
    name: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_spoken(self) -> bool:
        """Whether a user or an assistant said it."""
        return self.kind in {"user", "assistant"}
