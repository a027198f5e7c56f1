"""The part of the memory over HTTP that reads.

Must not know: how calls are sent.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Unpack
from uuid import UUID

from slowwave.errors import InvalidQuery, NotFound, shown
from slowwave.http.bodies import given
from slowwave.http.bound import BoundGateway
from slowwave.http.contexts import context_of, hit_of
from slowwave.http.following import GatewayFollowed, gateway_followed
from slowwave.http.wire import path_of
from slowwave.identity import check_name
from slowwave.memory_queries import check_list
from slowwave.memory_records import (
    MemoryExplanation,
    MemoryPage,
    MemoryRecord,
    MemoryStatus,
    explanation_of,
    memory_id,
    record_of,
)
from slowwave.memory_types import MemoryType
from slowwave.recall.context_query import check_context_query
from slowwave.recall.fitting import fitted
from slowwave.recall.scopes import reader
from slowwave.recall.search import check_search
from slowwave.recall.selection import Selection
from slowwave.recall.trimming import budget_of
from slowwave.working import scope_of

if TYPE_CHECKING:
    from slowwave.recall import Chosen, Context, Format, Hit, Order


class GatewayReads(BoundGateway):
    """Reads with the right `read`. What a key doesn't reach answers as what is not there."""

    def search(
        self,
        agent: str,
        query: str,
        limit: int = 10,
        *,
        scopes: Sequence[str] = (),
        include_review: bool = False,
        now: datetime | None = None,
        order: "Order" = "auto",
        **chosen: "Unpack[Chosen]",
    ) -> "list[Hit]":
        """See `Memory.search`."""
        reader("-", agent, scopes)
        selection = Selection(limit, chosen.get("max_tokens"), chosen.get("min_relevance", 0.0))
        check_search(query, selection, review=include_review, now=now, order=order, around=chosen.get("around", 0))
        body: dict[str, Any] = {"query": query, "limit": limit, "include_review": include_review, "order": order}
        body |= given(scopes=list(scopes) or None, now=None if now is None else now.isoformat(), **chosen)
        return [hit_of(hit) for hit in self._ask(path_of("agents", agent, "search"), body)["hits"]]

    def context(
        self,
        agent: str,
        session: str | None = None,
        query: str | None = None,
        days: int | None = None,
        *,
        scopes: Sequence[str] = (),
        max_tokens: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
        format: "Format" = "markdown",  # noqa: A002 (as in `Memory`)
    ) -> "Context":
        """See `Memory.context`. With `count_tokens` the context is cut to `max_tokens` here, not by the gateway."""
        reader("-", agent, scopes)
        check_context_query(session, query, days, datetime.now(UTC), max_tokens)
        budget = budget_of(max_tokens, format, count_tokens)
        body = given(session=session, query=query, days=days, scopes=list(scopes) or None, format=format)
        if count_tokens is None:
            body |= given(max_tokens=max_tokens)
        found = context_of(self._ask(path_of("agents", agent, "context"), body))
        return found if count_tokens is None else fitted(found, budget)

    def memories(
        self,
        agent: str,
        *,
        scope: str | None = None,
        status: MemoryStatus | None = None,
        type: MemoryType | None = None,  # noqa: A002 (as in `Memory`)
        as_of: datetime | date | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> MemoryPage:
        """See `Memory.memories`."""
        check_name("agent", agent)
        scope_of(agent, scope)
        check_list(status, type, as_of, limit)
        query = {"status": status, "type": type, "scope": scope, "limit": limit, "cursor": after}
        query["as_of"] = None if as_of is None else as_of.isoformat()
        try:
            found = self.gateway.wire.call("GET", path_of("agents", agent, "memories"), query=query).body
        except NotFound:
            return MemoryPage((), None)
        except InvalidQuery as error:
            if str(error).startswith("cursor"):
                raise InvalidQuery(f"after must be the `next` of an earlier page, got {shown(after)}") from None
            raise
        return MemoryPage(tuple(map(record_of, found["items"])), found["next_cursor"])

    def get(self, id: str | UUID) -> MemoryRecord:  # noqa: A002 (as in `Memory`)
        """See `Memory.get`."""
        return record_of(self.gateway.wire.call("GET", path_of("memories", str(memory_id(id)))).body)

    def explain(self, id: str | UUID) -> MemoryExplanation:  # noqa: A002 (as in `Memory`)
        """See `Memory.explain`."""
        return explanation_of(self.gateway.wire.call("GET", path_of("memories", str(memory_id(id)), "explain")).body)

    def _follow(
        self, agent: str | Sequence[str], scopes: Sequence[str], after: str | None, timeout: float | None
    ) -> GatewayFollowed:
        return gateway_followed(self.gateway.wire, agent, scopes, after, timeout)

    def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        # A reply waits for it.
        return self.gateway.wire.call("POST", path, body=body, again=False).body
