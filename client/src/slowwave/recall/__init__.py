"""Read an agent's memory: `search` for a question, `context` for a prompt.

Both read only the agent's own scope and the named rooms and teams of one tenant (I8). Both are read-only; outside
autocommit, the caller ends the transaction.
"""

from collections.abc import Sequence
from dataclasses import replace
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
    from slowwave.recall_requests import ContextRequest, SearchRequest

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
    connection: Connection[Any], tenant: str, request: "SearchRequest", vector: QuestionVector | None = None
) -> list[Hit]:
    """Find memories and events that answer the request's query, best first.

    vector: the embedding of the query (from `Questions`), for a semantic search. `now` of the request is in the
    caller's time zone; if it is None, times in the query are ignored. Raises `InvalidName` and psycopg's errors.
    """
    return run(connection, search_steps(reader(tenant, request.agent, request.scopes), request, vector))


def context(
    connection: Connection[Any],
    tenant: str,
    request: "ContextRequest",
    relevant: Sequence[Hit] | None = None,
    vector: QuestionVector | None = None,
) -> "Context":
    """Read what an agent should know for a prompt.

    relevant: memories that another backend found for the query, best first; None searches here. vector: the embedding
    of the query. Raises `InvalidQuery` for an invalid budget, and as `search` does.
    """
    # A search needs none of these modules.
    from slowwave.recall.context_query import check_context_query, context_query_steps  # noqa: PLC0415
    from slowwave.recall.fitting import fitted  # noqa: PLC0415
    from slowwave.recall.trimming import budget_of  # noqa: PLC0415

    query, who = request.query, reader(tenant, request.agent, request.scopes)
    budget = budget_of(request.max_tokens, request.format, request.count_tokens)
    found = run(connection, context_query_steps(who, check_context_query(request), relevant, vector))
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
