"""Who answers a reader, as `memory.backend` says: Postgres, or mem0 for what a question finds.

Where mem0 is not installed or set up wrongly that is an error; where it does not answer, Postgres does, and the log
says so.

Must not know: how either finds anything.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from psycopg import Connection

from slowwave import recall
from slowwave.recall.gathering import MEMORIES
from slowwave.recall.scopes import reader
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
    source: Source, tenant: str, agent: str, query: str, *, limit: int, scopes: Sequence[str], include_review: bool
) -> list[recall.Hit]:
    """See `slowwave.recall.search`. Raises as that does, StoreUnavailable, and InvalidSettings for mem0."""
    hits = _from_mem0(source, tenant, agent, query, limit=limit, scopes=scopes, include_review=include_review)
    if hits is not None:
        return hits
    vector = source.questions.vector(source.read, query)
    options: dict[str, Any] = {"limit": limit, "scopes": scopes, "include_review": include_review, "vector": vector}
    return source.read(lambda connection: recall.search(connection, tenant, agent, query, **options))


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
    options |= {"query": query, "scopes": scopes, "days": days, "now": now, "relevant": relevant, "vector": vector}
    return source.read(lambda connection: recall.context(connection, tenant, agent, **options))


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
