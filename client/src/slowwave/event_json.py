"""An event in the form in which it travels to Postgres.

Must not know: how an event is built.
"""

from typing import Any, Literal, NotRequired, TypedDict

Kind = Literal["user", "assistant", "task", "tool"]


class EventJson(TypedDict):
    """An event as the capture function of the database reads it. `step`: turns that began in its call so far.

    taken: when a hook took it, of those that were kept waiting.
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
