"""An event as JSON for Postgres."""

from typing import Any, Literal, NotRequired, TypedDict

Kind = Literal["user", "assistant", "task", "tool"]


class EventJson(TypedDict):
    """An event as the database's capture function reads it. step: the number of earlier turns in the same call.

    taken: the time at which the call was accepted, if the event was queued or spooled.
    """

    key: str
    kind: Kind
    step: int
    content: str
    role: NotRequired[str]
    name: NotRequired[str]
    at: NotRequired[str]
    taken: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]
