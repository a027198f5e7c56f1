"""Route reads by `memory.backend`: Postgres answers them, or mem0 finds the memories for a query.

A missing or misconfigured mem0 is an error. If mem0 does not answer, Postgres answers, and a line is logged.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from zoneinfo import ZoneInfo

from psycopg import Connection

from slowwave import recall
from slowwave.recall.scopes import reader
from slowwave.recall.search import MAX_LIMIT, ordered
from slowwave.recall.selection import Selection
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

    Raises InvalidName, InvalidQuery, StoreUnavailable, and InvalidSettings for mem0.
    """
    request.check()
    selection = Selection(request.limit, request.max_tokens)
    depth = min(selection.depth, MAX_LIMIT)
    hits = _from_mem0(
        source, tenant, request.agent, request.query, limit=depth, scopes=request.scopes, review=request.include_review
    )
    if hits is not None:
        # mem0 gives no relevance to compare, and no events whose neighbours could be added.
        return ordered(selection.choose(hits), request.order, request.query)
    vector = source.questions.vector(source.read, request.query)
    now = _local(source, request.now or datetime.now(UTC))
    return source.read(
        lambda connection: recall.search(
            connection,
            tenant,
            request.agent,
            request.query,
            limit=request.limit,
            scopes=request.scopes,
            include_review=request.include_review,
            vector=vector,
            now=now,
            order=request.order,
            max_tokens=request.max_tokens,
            min_relevance=request.min_relevance,
            min_share=request.min_share,
            around=request.around,
        )
    )


def context(source: Source, tenant: str, request: ContextRequest) -> "recall.Context":
    """Read a context as `Memory.context` does; mem0, if it is the backend, finds the relevant memories."""
    from slowwave.recall.context_query import MEMORIES  # noqa: PLC0415 (a search needs none of it)

    request.check()
    agent, query, scopes = request.agent, request.query, request.scopes
    relevant = _from_mem0(source, tenant, agent, query, limit=MEMORIES, scopes=scopes) if query else None
    vector = source.questions.vector(source.read, query) if relevant is None else None
    days = source.settings.memory.days.autoload_summary_days if request.days is None else request.days
    now = _local(source, request.now or datetime.now(UTC))
    return source.read(
        lambda connection: recall.context(
            connection,
            tenant,
            agent,
            session=request.session,
            query=query,
            days=days,
            scopes=scopes,
            max_tokens=request.max_tokens,
            count_tokens=request.count_tokens,
            format=request.format,
            now=now,
            relevant=relevant,
            vector=vector,
        )
    )


def _local(source: Source, now: datetime) -> datetime:
    """Convert to the time zone of the settings."""
    return now.astimezone(ZoneInfo(source.settings.memory.days.timezone))


def _from_mem0(
    source: Source,
    tenant: str,
    agent: str,
    query: str,
    *,
    limit: int,
    scopes: Sequence[str],
    review: bool = False,
) -> list[recall.Hit] | None:
    if source.settings.memory.backend != "mem0":
        return None
    from slowwave.mem0_backend.reading import find  # noqa: PLC0415 (no other backend needs it)

    who = reader(tenant, agent, scopes)
    return find(source.mem0(), source.read, who, query, limit=limit, include_review=review)
