"""Read an agent's memory: `search` for a question, `context` for a prompt.

Both read only the agent's own scope and the named rooms and teams of one tenant (I8). Both are read-only; outside
autocommit, the caller ends the transaction.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from psycopg import Connection

from slowwave.recall.hits import Hit
from slowwave.recall.lines import Contradiction, Day, DayLine, Utterance
from slowwave.recall.query_steps import run
from slowwave.recall.questions import Questions, QuestionVector
from slowwave.recall.scopes import reader
from slowwave.recall.search import Order, ordered, search_steps
from slowwave.recall.times import asks_order
from slowwave.recall.tokens import estimate

if TYPE_CHECKING:
    from slowwave.recall.briefing import Context, Format

__all__ = [
    "Context",
    "Contradiction",
    "Day",
    "DayLine",
    "Format",
    "Hit",
    "Order",
    "QuestionVector",
    "Questions",
    "Utterance",
    "asks_order",
    "context",
    "estimate",
    "search",
]


def search(
    connection: Connection[Any],
    tenant: str,
    agent: str,
    query: str,
    *,
    limit: int = 10,
    scopes: Sequence[str] = (),
    include_review: bool = False,
    vector: QuestionVector | None = None,
    now: datetime | None = None,
    order: Order = "relevance",
    max_tokens: int | None = None,
    min_relevance: float = 0.0,
    min_share: float = 0.0,
    around: int = 0,
) -> list[Hit]:
    """Find memories and events that answer `query`, best first; the arguments are those of `Memory.search`.

    vector: the embedding of the query (from `Questions`), for a semantic search. now: the reference time for times in
    the query (aware, in the caller's time zone); None ignores such times. Raises `InvalidName` and `InvalidQuery`
    before anything is sent, and psycopg's errors.
    """
    who = reader(tenant, agent, scopes)
    chosen: dict[str, Any] = {"max_tokens": max_tokens, "min_relevance": min_relevance, "min_share": min_share}
    chosen |= {"limit": limit, "include_review": include_review, "vector": vector, "now": now, "order": order}
    chosen["around"] = around
    return run(connection, search_steps(who, query, **chosen))


def context(
    connection: Connection[Any],
    tenant: str,
    agent: str,
    *,
    session: str | None = None,
    query: str | None = None,
    days: int | None = None,
    scopes: Sequence[str] = (),
    max_tokens: int | None = None,
    count_tokens: Callable[[str], int] | None = None,
    format: "Format" = "markdown",  # noqa: A002 (the word that callers know)
    now: datetime,
    relevant: Sequence[Hit] | None = None,
    vector: QuestionVector | None = None,
) -> "Context":
    """Read what an agent should know for a prompt; the arguments are those of `Memory.context`.

    now: the time of the prompt (aware). relevant: memories that another backend found for the query, best first; None
    searches here. vector: the embedding of the query. Raises as `search` does.
    """
    # A search needs none of these modules.
    from slowwave.recall.context_query import check_context_query, context_query_steps  # noqa: PLC0415
    from slowwave.recall.fitting import fitted  # noqa: PLC0415
    from slowwave.recall.trimming import budget_of  # noqa: PLC0415

    wanted = check_context_query(session, query, days, now, max_tokens)
    budget = budget_of(max_tokens, format, count_tokens)
    found = run(connection, context_query_steps(reader(tenant, agent, scopes), wanted, relevant, vector))
    known = fitted(found, budget)
    if query is None:
        return known
    # The selection uses relevance.
    memories, passages = (ordered(list(hits), "auto", query) for hits in (known.memories, known.passages))
    return replace(known, memories=tuple(memories), passages=tuple(passages))


def __getattr__(name: str) -> Any:
    """Import the names of a context on first use."""
    if name not in {"Context", "Format"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from slowwave.recall import briefing  # noqa: PLC0415

    return getattr(briefing, name)
