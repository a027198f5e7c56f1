"""Route reads by `memory.backend`: Postgres answers them; mem0, if it is the backend, finds memories for a question.

A missing or misconfigured mem0 is an error. If mem0 does not answer, Postgres does, and a log line says so.

Must not know: how Postgres and mem0 search.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, Unpack
from zoneinfo import ZoneInfo

from psycopg import Connection

from slowwave import recall
from slowwave.recall.context_query import MEMORIES
from slowwave.recall.scopes import reader
from slowwave.recall.search import MAX_LIMIT, check_search, ordered
from slowwave.recall.selection import Selection
from slowwave.settings import Settings

if TYPE_CHECKING:
    from slowwave.mem0_backend import Mem0Connection

T = TypeVar("T")


class Read(Protocol):
    """Runs `work` on a connection to Postgres and answers its result."""

    def __call__(self, work: Callable[[Connection[Any]], T], /) -> T: ...


@dataclass(frozen=True, slots=True)
class Source:
    """The sources of answers. mem0: makes the connection, called only if mem0 is the backend.

    questions: embeds questions; without an embedding driver it makes no vectors.
    """

    settings: Settings
    read: Read
    mem0: "Callable[[], Mem0Connection]"
    questions: recall.Questions


def search(
    source: Source,
    tenant: str,
    agent: str,
    query: str,
    *,
    limit: int,
    scopes: Sequence[str],
    include_review: bool,
    now: datetime,
    order: recall.Order = "auto",
    **chosen: Unpack[recall.Chosen],
) -> list[recall.Hit]:
    """See `slowwave.recall.search`; times in the query are in the zone `memory.days.timezone`.

    Raises the same errors, StoreUnavailable, and InvalidSettings for mem0.
    """
    selection = Selection(limit, chosen.get("max_tokens"), chosen.get("min_relevance", 0.0))
    check_search(query, selection, review=include_review, now=now, order=order, around=chosen.get("around", 0))
    depth = min(selection.depth, MAX_LIMIT)
    hits = _from_mem0(source, tenant, agent, query, limit=depth, scopes=scopes, include_review=include_review)
    if hits is not None:
        # mem0 gives no relevance that min_relevance could be compared with, and no events to widen.
        return ordered(selection.choose(hits), order, query)
    vector = source.questions.vector(source.read, query)
    options: dict[str, Any] = {"limit": limit, "scopes": scopes, "include_review": include_review, "vector": vector}
    options |= {"now": _local(source, now), "order": order}
    return source.read(lambda connection: recall.search(connection, tenant, agent, query, **options, **chosen))


def context(
    source: Source,
    tenant: str,
    agent: str,
    *,
    query: str | None,
    scopes: Sequence[str],
    days: int | None,
    now: datetime,
    **options: Any,
) -> recall.Context:
    """See `slowwave.recall.context`; if mem0 is the backend, it finds the relevant memories and nothing else."""
    days = source.settings.memory.days.autoload_summary_days if days is None else days
    relevant = _from_mem0(source, tenant, agent, query, limit=MEMORIES, scopes=scopes) if query else None
    vector = source.questions.vector(source.read, query) if relevant is None else None
    options |= {
        "query": query,
        "scopes": scopes,
        "days": days,
        "now": _local(source, now),
        "relevant": relevant,
        "vector": vector,
    }
    return source.read(lambda connection: recall.context(connection, tenant, agent, **options))


def _local(source: Source, now: datetime) -> datetime:
    """Convert to the time zone of the settings."""
    # The check of the question refuses a value that is no time or has no zone.
    if not isinstance(now, datetime) or now.tzinfo is None:
        return now
    return now.astimezone(ZoneInfo(source.settings.memory.days.timezone))


def _from_mem0(
    source: Source,
    tenant: str,
    agent: str,
    query: str,
    *,
    limit: int,
    scopes: Sequence[str],
    include_review: bool = False,
) -> list[recall.Hit] | None:
    if source.settings.memory.backend != "mem0":
        return None
    from slowwave.mem0_backend.reading import find  # noqa: PLC0415 (no other backend needs it)

    who = reader(tenant, agent, scopes)
    return find(source.mem0(), source.read, who, query, limit=limit, include_review=include_review)
