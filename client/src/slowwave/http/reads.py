"""The reading calls of the backend over HTTP."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from slowwave.errors import InvalidQuery, NotFound, shown
from slowwave.http.bodies import given
from slowwave.http.bound import BoundGateway
from slowwave.http.contexts import context_of, hit_of
from slowwave.http.following import GatewayFollowed, gateway_followed
from slowwave.http.wire import path_of
from slowwave.memory_records import MemoryExplanation, MemoryPage, MemoryRecord, parsed
from slowwave.memory_requests import ChangesRequest, MemoriesRequest
from slowwave.recall.fitting import fitted
from slowwave.recall.trimming import budget_of
from slowwave.recall_requests import ContextRequest, SearchRequest

if TYPE_CHECKING:
    from slowwave.recall import Context, Hit


class GatewayReads(BoundGateway):
    """Reads with the right `read`. The gateway answers as if data that the key may not read did not exist."""

    def search(self, request: SearchRequest) -> "list[Hit]":
        body = {
            "query": request.query,
            "limit": request.limit,
            "include_review": request.include_review,
            "order": request.order,
            "min_relevance": request.min_relevance,
            "min_share": request.min_share,
            "around": request.around,
        }
        now = None if request.now is None else request.now.isoformat()
        body |= given(scopes=list(request.scopes) or None, now=now, max_tokens=request.max_tokens)
        return [hit_of(hit) for hit in self._ask(path_of("agents", request.agent, "search"), body)["hits"]]

    def context(self, request: ContextRequest) -> "Context":
        """Read the context of a prompt. If `count_tokens` is given, this host cuts the context, not the gateway."""
        budget = budget_of(request.max_tokens, request.format, request.count_tokens)
        body = given(
            session=request.session,
            query=request.query,
            days=request.days,
            scopes=list(request.scopes) or None,
            format=request.format,
            max_tokens=request.max_tokens if request.count_tokens is None else None,
            noted=None if request.noted else False,
        )
        found = context_of(self._ask(path_of("agents", request.agent, "context"), body))
        return found if request.count_tokens is None else fitted(found, budget)

    def memories(self, request: MemoriesRequest) -> MemoryPage:
        query: dict[str, Any] = {"status": request.status, "type": request.type, "scope": request.scope}
        query |= {"limit": request.limit, "cursor": request.after}
        query["as_of"] = None if request.as_of is None else request.as_of.isoformat()
        try:
            found = self.gateway.wire.call("GET", path_of("agents", request.agent, "memories"), query=query).body
        except NotFound:
            return MemoryPage((), None)
        except InvalidQuery as error:
            if str(error).startswith("cursor"):
                raise InvalidQuery(f"after must be the `next` of an earlier page, got {shown(request.after)}") from None
            raise
        return MemoryPage(tuple(parsed(MemoryRecord, item) for item in found["items"]), found["next_cursor"])

    def get(self, memory: UUID) -> MemoryRecord:
        return parsed(MemoryRecord, self.gateway.wire.call("GET", path_of("memories", str(memory))).body)

    def explain(self, memory: UUID) -> MemoryExplanation:
        return parsed(
            MemoryExplanation, self.gateway.wire.call("GET", path_of("memories", str(memory), "explain")).body
        )

    def follow(self, request: ChangesRequest) -> GatewayFollowed:
        """Prepare to follow changes, without reading."""
        return gateway_followed(self.gateway.wire, request)

    def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        # A reply of the agent waits for this read.
        return self.gateway.wire.call("POST", path, body=body, again=False).body
