"""The requests of `Memory`: the arguments of a call with defaults and checks, the same for every backend.

The requests of `search` and `context` are in `recall_requests`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from slowwave.errors import InvalidQuery, shown
from slowwave.event_json import EventJson
from slowwave.identity import check_name, scope_of
from slowwave.memory_types import MEMORY_STATUSES, MEMORY_TYPES, MemoryStatus, MemoryType

# Not imported when it runs, because a read needs no Pydantic models of messages.
if TYPE_CHECKING:
    from slowwave.messages import Message, TaskEvent

MAX_PAGE = 200


class TurnRequest(NamedTuple):
    """A checked turn. events, about: values in the form of Postgres; messages, scope, room_id, thread_id: the host's
    arguments.
    """

    agent: str
    session: str
    messages: "Sequence[Message | Mapping[str, Any]]"
    events: list[EventJson]
    key: str
    about: dict[str, str] | None
    scope: str | None
    room_id: str | None
    thread_id: str | None
    ignored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MilestoneRequest:
    """A checked milestone of a task. events: the events in the form of Postgres."""

    agent: str
    session: str
    event: "TaskEvent"
    text: str
    at: datetime | str | None
    run: str | None
    events: list[EventJson]
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoriesRequest:
    """The arguments of `Memory.memories`."""

    agent: str
    scope: str | None = None
    status: MemoryStatus | None = None
    type: MemoryType | None = None
    as_of: datetime | date | None = None
    limit: int = 50
    after: str | None = None

    def __post_init__(self) -> None:
        """Raise InvalidName or InvalidQuery for an invalid argument."""
        check_name("agent", self.agent)
        scope_of(self.agent, self.scope)
        status, kind, as_of, limit = self.status, self.type, self.as_of, self.limit
        if status is not None and status not in MEMORY_STATUSES:
            raise InvalidQuery(f"status must be one of {', '.join(MEMORY_STATUSES)}, got {shown(status)}")
        if kind is not None and kind not in MEMORY_TYPES:
            raise InvalidQuery(f"type must be one of {', '.join(MEMORY_TYPES)}, got {shown(kind)}")
        aware = not isinstance(as_of, datetime) or as_of.tzinfo is not None
        if as_of is not None and not (isinstance(as_of, date) and aware):
            raise InvalidQuery(f"as_of must be a date, or a datetime with a time zone, got {shown(as_of)}")
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_PAGE:
            raise InvalidQuery(f"limit must be an integer from 1 to {MAX_PAGE}, got {shown(limit)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesRequest:
    """The arguments of `Memory.changes`."""

    agents: Sequence[str]
    scopes: Sequence[str]
    after: str | None
    timeout: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetTarget:
    """The agent, session, scope or memory that `Memory.forget` deletes. memory: a UUID as text."""

    agent: str | None = None
    session: str | None = None
    scope: str | None = None
    memory: str | None = None

    def to_json(self) -> dict[str, str]:
        """Return the names that are set."""
        return {name: value for name, value in asdict(self).items() if value is not None}
