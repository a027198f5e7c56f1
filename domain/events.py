"""Events of a conversation as the rules see them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

EventKind = Literal["user", "assistant", "task", "tool"]


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a session.

    seq: the position within the session, 1, 2, 3 … without gaps.
    kind: the kind of entry; role: its name in the chat API (`user`, `assistant`, `task` …), or `tool_call` or `tool`
    for a tool.
    name: the speaker's name, if the producer gave one; happened_at: the aware time of the event.
    metadata: data of the producer, e.g. {"event": "run_finished"} for task milestones.

    A tool's call and its result are two events of kind `tool` (slowwave.tool_events makes them):

        role         content                                          metadata
        tool_call    cancel_booking(booking_id="ZX4", refund=true)    {"tool", "tool_call_id"}
        tool         status: cancelled⏎refund: 120                    {"tool", "tool_call_id", "error"?}

    Arguments are JSON values. A result that is a JSON object has one line `key: value` per key; a nested value is JSON.
    The event's name is the displayed name: "tool cancel_booking".
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
        """Return True if a user or an assistant said the event."""
        return self.kind in {"user", "assistant"}
