"""An event as JSON for Postgres."""

from typing import Any, Literal, NotRequired, TypedDict

Kind = Literal["user", "assistant", "task", "tool"]


class EventJson(TypedDict):
    """An event as the capture function reads it. step: earlier turns in the call; taken: when a call was queued."""

    key: str
    kind: Kind
    step: int
    content: str
    role: NotRequired[str]
    name: NotRequired[str]
    at: NotRequired[str]
    taken: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]
