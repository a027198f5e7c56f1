"""Reading what an agent knows: `search` for a question, `context` for the beginning of a conversation.

Both read the agent's own scope and the rooms and teams that are named, of one tenant, and nothing else (I8). Both are
read-only and leave the transaction of a connection that is not in autocommit to its owner.

Must not know: how memories come about.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from psycopg import Connection

from slowwave.recall.briefing import Context, Format
from slowwave.recall.context_query import check_context_query, context_query_steps
from slowwave.recall.fitting import fitted
from slowwave.recall.hits import Hit
from slowwave.recall.lines import Contradiction, Day, DayLine, Utterance
from slowwave.recall.query_steps import run
from slowwave.recall.questions import Questions, QuestionVector
from slowwave.recall.scopes import reader
from slowwave.recall.search import Order, ordered, search_steps
from slowwave.recall.times import asks_order
from slowwave.recall.tokens import estimate
from slowwave.recall.trimming import budget_of

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
    around: int = 0,
) -> list[Hit]:
    """Find memories and events that answer `query`, best first; at most `limit` (1 to 100).

    Of a longer query the first 2,000 characters count. `scopes`: "room:NAME" or "team:NAME", read beside the agent's
    own. Unknown agents and scopes hold nothing; a query without a meaningful word finds nothing.
    include_review: also memories that wait for a person's decision; their status is "review". vector: the question's
    (`Questions`), to find what means the same in other words, too. now: when the question is asked (aware, in the zone
    of who asks): then its times weigh ("in March", "two weeks ago", "since the release", "latest"). order: "relevance":
    best first; "time": of the same hits the oldest first; "auto": that for a question of order or duration ("which came
    first", "how long between"), else best first. max_tokens: what the hits take together, each with its date, is at
    most that by estimate, and no hit repeats another; there are `limit` at most. min_relevance: hits of less relevance
    (0 to 1) are left out; [] means that nothing is known.
    around: so many passages (0 to 10) before and behind an event come with it.
    Raises `InvalidName` and `InvalidQuery` before anything is sent, and what psycopg raises.
    """
    who = reader(tenant, agent, scopes)
    chosen: dict[str, Any] = {"max_tokens": max_tokens, "min_relevance": min_relevance, "around": around}
    chosen |= {"limit": limit, "include_review": include_review, "vector": vector, "now": now, "order": order}
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
    format: Format = "markdown",  # noqa: A002 (the word that callers know)
    now: datetime,
    relevant: Sequence[Hit] | None = None,
    vector: QuestionVector | None = None,
) -> Context:
    """Read what the agent should know in `session` (which is left out of what is said elsewhere), at `now` (aware).

    query: what the conversation is about, where known, and the times that it speaks of; days: how many local days count
    as recent, 2 unless given;
    scopes as in `search`. max_tokens: what the context takes in this `format` is at most that, as `count_tokens` counts
    (by default an estimate); an allowance too small for anything gives an empty context. Without it, everything that
    was found, which is bounded whatever the scopes hold. relevant: memories that answer the query, best first, where
    somebody else has found them; vector: as in `search`. Raises as `search` does.
    """
    wanted = check_context_query(session, query, days, now, max_tokens)
    budget = budget_of(max_tokens, format, count_tokens)
    found = run(connection, context_query_steps(reader(tenant, agent, scopes), wanted, relevant, vector))
    known = fitted(found, budget)
    if query is None:
        return known
    # What finds room is chosen by relevance.
    memories, passages = (ordered(list(hits), "auto", query) for hits in (known.memories, known.passages))
    return replace(known, memories=tuple(memories), passages=tuple(passages))
