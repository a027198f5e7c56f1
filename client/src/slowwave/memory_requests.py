"""The requests of `Memory`: the arguments of a call with defaults and checks, the same for every backend."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from slowwave.errors import InvalidQuery, shown
from slowwave.event_json import EventJson
from slowwave.identity import check_name, scope_of
from slowwave.memory_types import MEMORY_STATUSES, MEMORY_TYPES, MemoryStatus, MemoryType

# Not imported when it runs, because a read needs no Pydantic models of messages.
if TYPE_CHECKING:
    from slowwave.messages import Message, TaskEvent
    from slowwave.recall import Format, Order

MAX_PAGE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
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
class SearchRequest:
    """The arguments of `Memory.search`. now: the reference time; None means the time of the call."""

    agent: str
    query: str
    limit: int = 10
    scopes: Sequence[str] = ()
    include_review: bool = False
    now: datetime | None = None
    order: "Order" = "auto"
    max_tokens: int | None = None
    min_relevance: float = 0.0
    around: int = 0

    def check(self) -> None:
        """Raise InvalidName or InvalidQuery for an invalid argument."""
        from slowwave.recall.scopes import reader  # noqa: PLC0415 (hosts that only record need none of it)
        from slowwave.recall.search import check_search  # noqa: PLC0415 (as above)
        from slowwave.recall.selection import Selection  # noqa: PLC0415 (as above)

        reader("-", self.agent, self.scopes)
        selection = Selection(self.limit, self.max_tokens, self.min_relevance)
        check_search(
            self.query, selection, review=self.include_review, now=self.now, order=self.order, around=self.around
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """The arguments of `Memory.context`. now: the reference time; None means the time of the call.

    noted: True if the memories of the context count as shown; False if the caller shows only a part of the memories.
    """

    agent: str
    session: str | None = None
    query: str | None = None
    days: int | None = None
    scopes: Sequence[str] = ()
    max_tokens: int | None = None
    count_tokens: Callable[[str], int] | None = None
    format: "Format" = "markdown"
    now: datetime | None = None
    noted: bool = True

    def check(self) -> None:
        """Raise InvalidName or InvalidQuery for an invalid argument."""
        from slowwave.recall.context_query import check_context_query  # noqa: PLC0415 (as above)
        from slowwave.recall.scopes import reader  # noqa: PLC0415 (as above)

        reader("-", self.agent, self.scopes)
        check_context_query(self.session, self.query, self.days, self.now or datetime.now(UTC), self.max_tokens)


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

    def check(self) -> None:
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
