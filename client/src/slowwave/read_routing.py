"""Route reads by `memory.backend`: Postgres answers them, or mem0 finds the memories for a query.

A missing or misconfigured mem0 is an error. If mem0 does not answer, Postgres answers, and a line is logged.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from zoneinfo import ZoneInfo

from psycopg import Connection

from slowwave import recall
from slowwave.recall.scopes import Reader, reader
from slowwave.recall.search import MAX_LIMIT, ordered
from slowwave.recall.selection import depth, selected
from slowwave.recall_requests import ContextRequest, SearchRequest

if TYPE_CHECKING:
    from slowwave.mem0_backend import Mem0Connection
    from slowwave.settings import Settings

T = TypeVar("T")


class Read(Protocol):
    """Runs `work` on a connection to Postgres and returns its result."""

    def __call__(self, work: Callable[[Connection[Any]], T], /) -> T: ...


@dataclass(frozen=True, slots=True)
class Source:
    """The sources of answers. mem0: makes the connection, called only if mem0 is the backend."""

    settings: "Settings"
    read: Read
    mem0: "Callable[[], Mem0Connection]"
    questions: recall.Questions


def search(source: Source, tenant: str, request: SearchRequest) -> list[recall.Hit]:
    """Search as `Memory.search` does. Times in the query use the time zone `memory.days.timezone`.

    Raises InvalidName, StoreUnavailable, and InvalidSettings for mem0.
    """
    limit = min(depth(request), MAX_LIMIT)
    who = reader(tenant, request.agent, request.scopes)
    hits = _from_mem0(source, who, request.query, limit, review=request.include_review)
    if hits is not None:
        # mem0 gives no relevance to compare, and no events whose neighbours could be added.
        return ordered(selected(hits, request), request.order, request.query)
    vector = source.questions.vector(source.read, request.query)
    local = replace(request, now=_local(source, request.now))
    return source.read(lambda connection: recall.search(connection, tenant, local, vector))


def context(source: Source, tenant: str, request: ContextRequest) -> "recall.Context":
    """Read a context as `Memory.context` does; mem0, if it is the backend, finds the relevant memories."""
    from slowwave.recall.context_query import MEMORIES  # noqa: PLC0415 (a search needs none of it)

    query, who = request.query, reader(tenant, request.agent, request.scopes)
    relevant = _from_mem0(source, who, query, MEMORIES) if query else None
    vector = source.questions.vector(source.read, query) if relevant is None else None
    days = source.settings.memory.days.autoload_summary_days if request.days is None else request.days
    local = replace(request, days=days, now=_local(source, request.now))
    return source.read(lambda connection: recall.context(connection, tenant, local, relevant, vector))


def _local(source: Source, now: datetime | None) -> datetime:
    """Return the time, by default the current one, in the time zone of the settings."""
    return (now or datetime.now(UTC)).astimezone(ZoneInfo(source.settings.memory.days.timezone))


def _from_mem0(source: Source, who: Reader, query: str, limit: int, *, review: bool = False) -> list[recall.Hit] | None:
    if source.settings.memory.backend != "mem0":
        return None
    from slowwave.mem0_backend.reading import find  # noqa: PLC0415 (no other backend needs it)

    return find(source.mem0(), source.read, who, query, limit=limit, include_review=review)
