"""Who answers a reader, as `memory.backend` says: Postgres, or mem0 for what a question finds.

Where mem0 is not installed or set up wrongly that is an error; where it does not answer, Postgres does, and the log
says so.

Must not know: how either finds anything.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, Unpack
from zoneinfo import ZoneInfo

from psycopg import Connection

from slowwave import recall
from slowwave.recall.finding import MAX_LIMIT, check_search, ordered
from slowwave.recall.gathering import MEMORIES
from slowwave.recall.scopes import reader
from slowwave.recall.selection import Selection
from slowwave.settings import Settings

if TYPE_CHECKING:
    from slowwave.mem0_backend import Mem0Connection

T = TypeVar("T")


class Read(Protocol):
    """Runs something on a connection to Postgres and answers what that does."""

    def __call__(self, work: Callable[[Connection[Any]], T], /) -> T: ...


@dataclass(frozen=True, slots=True)
class Source:
    """Where readers are answered from. mem0: made when the backend is that, and no sooner.

    questions: what makes vectors of questions; where they are off it makes none.
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
    """See `slowwave.recall.search`; times of the query are read in the zone `memory.days.timezone`.

    Raises as that does, StoreUnavailable, and InvalidSettings for mem0.
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
    """See `slowwave.recall.context`; what is relevant comes from mem0 where that is the backend, the rest never."""
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
    """The same moment, as a clock shows it where the agents are."""
    # What is no time, or has no zone, is refused where the question is checked.
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
