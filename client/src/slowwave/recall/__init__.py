"""Reading what an agent knows: `search` for a question, `context` for the beginning of a conversation.

Both read the agent's own scope and the rooms and teams that are named, of one tenant, and nothing else (I8). Both are
read-only and leave the transaction of a connection that is not in autocommit to its owner.

Must not know: how memories come about.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from psycopg import Connection

from slowwave.recall.briefing import Context, Utterance, context_steps
from slowwave.recall.finding import search_steps
from slowwave.recall.hits import Hit
from slowwave.recall.scopes import reader
from slowwave.recall.steps import run

__all__ = ["Context", "Hit", "Utterance", "context", "search"]


def search(
    connection: Connection[Any],
    tenant: str,
    agent: str,
    query: str,
    *,
    limit: int = 10,
    scopes: Sequence[str] = (),
    include_review: bool = False,
) -> list[Hit]:
    """Find memories and events that answer `query`, best first; at most `limit` (1 to 100).

    Of a longer query the first 2,000 characters count. `scopes`: "room:NAME" or "team:NAME", read beside the agent's
    own. Unknown agents and scopes hold nothing; a query without a meaningful word finds nothing.
    include_review: also memories that wait for a person's decision; their status is "review".
    Raises `InvalidName` and `InvalidQuery` before anything is sent, and what psycopg raises.
    """
    steps = search_steps(reader(tenant, agent, scopes), query, limit=limit, include_review=include_review)
    return run(connection, steps)


def context(
    connection: Connection[Any],
    tenant: str,
    agent: str,
    *,
    session: str | None = None,
    query: str | None = None,
    days: int | None = None,
    scopes: Sequence[str] = (),
    now: datetime,
) -> Context:
    """Read what the agent should know in `session` (which is left out of what is said elsewhere), at `now` (aware).

    query: what the conversation is about, where known; days: what counts as recent, 2 unless given; scopes as in
    `search`. Bounded whatever the scope holds. Raises as `search` does.
    """
    return run(
        connection, context_steps(reader(tenant, agent, scopes), session=session, query=query, days=days, now=now)
    )
