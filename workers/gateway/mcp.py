"""MCP over streamable HTTP at `/mcp`: the tools of one agent, which the API key determines.

Requests are independent: no process holds a session, so any process of any host can answer.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from uuid import UUID

from anyio import to_thread
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from slowwave.errors import InvalidQuery
from slowwave.memory_types import MemoryType
from slowwave_server.services.access.api_keys import Right
from slowwave_server.services.access.reach import ANY
from slowwave_server.services.reports.explain import Explanation, explain_memory
from slowwave_server.workers.gateway.bodies import take_body
from slowwave_server.workers.gateway.gate import Gate
from slowwave_server.workers.gateway.problems import Problem
from slowwave_server.workers.gateway.routing import admit, problem_response
from slowwave_server.workers.gateway.visit import Needs, Visit
from slowwave_server.workers.gateway.walls import act_for
from slowwave_server.workers.mcp_server import make_server
from slowwave_server.workers.mcp_tools import AgentTools, ToolAnswer
from slowwave_server.workers.shared.flush_requests import flush_sessions

PATH = "/mcp"
_visit: ContextVar[Visit] = ContextVar("slowwave_mcp_visit")
_NEEDS = Needs("read", "record")


class CallersTools:
    """The tools of the caller. Each tool needs the right that its HTTP route needs."""

    scopes = ("room:NAME or team:NAME, as the key names it",)

    def search(self, query: str, limit: int) -> ToolAnswer:
        return _tools("read").search(query, limit)

    def context(self, query: str | None, session: str | None, max_tokens: int) -> ToolAnswer:
        return _tools("read").context(query, session, max_tokens)

    def explain(self, memory_id: str) -> ToolAnswer:
        return _tools("read").explain(memory_id)

    def remember(self, content: str, importance: float, kind: MemoryType, scope: str | None) -> ToolAnswer:
        return _tools("record").remember(content, importance, kind, scope)

    def consolidate_now(self) -> ToolAnswer:
        return _tools("record").consolidate_now()


def _tools(right: Right) -> AgentTools:
    visit = _visit.get()
    visit.caller.require(right)
    if right == "record":
        visit.check_quota()
    agent = agent_of(visit)
    return AgentTools(
        memory=visit.memory,
        agent=agent,
        scopes=tuple(scope for scope in visit.caller.scopes if ANY not in scope),
        explain_memory=lambda memory: _explain(visit, memory),
        flush_sessions=lambda: flush_sessions(visit.shell, agent),
    )


def agent_of(visit: Visit) -> str:
    """Return the agent that the key determines. Raises Problem for a key with no agent, several agents, or a
    pattern.
    """
    agents = visit.caller.agents
    if len(agents) != 1 or ANY in agents[0]:
        raise Problem(
            403,
            "agent-not-fixed",
            "a key for MCP must name exactly one agent, without *",
            title="The key fixes no agent",
            cure="make one with `slowwave admin keys add NAME --agent AGENT --right read --right record`",
        )
    return agents[0]


def _explain(visit: Visit, memory: str) -> Explanation:
    try:
        memory_id = UUID(memory)
    except ValueError:
        raise InvalidQuery(f"memory_id must be the id of a memory, got {memory!r:.60}") from None
    with visit.reading() as connection:
        return explain_memory(connection, visit.tenant, memory_id)


class McpEndpoint:
    """The ASGI application at `/mcp`."""

    def __init__(self) -> None:
        server = make_server(CallersTools())
        self._manager = StreamableHTTPSessionManager(server._lowlevel_server, json_response=True, stateless=True)  # noqa: SLF001 (otherwise the SDK makes a whole application)

    @property
    def run(self) -> Callable[[], AbstractAsyncContextManager[None]]:
        """The session manager's context, which must be open while the gateway serves."""
        run: Callable[[], AbstractAsyncContextManager[None]] = self._manager.run
        return run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        try:
            body = await self._admitted(request)
        except Exception as error:  # noqa: BLE001 (problem_response logs an unexpected error and shows no details)
            response = await to_thread.run_sync(problem_response, request, error, PATH)
            await response(scope, receive, send)
            return
        await self._manager.handle_request(scope, _replayed(body, receive), send)

    async def _admitted(self, request: Request) -> bytes:
        if request.method != "POST":
            raise Problem(405, "method-not-allowed", f"{PATH} answers POST", headers={"Allow": "POST"})
        gate: Gate = request.app.state.gate
        visit = await to_thread.run_sync(admit, gate, request, _NEEDS)
        agent_of(visit)
        act_for(visit.caller.digest)
        _visit.set(visit)
        rules = gate.settings.gateway
        return await (await take_body(request, rules.max_body_bytes, rules.body_seconds)).body()


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a receive function that first replays `body`, then passes on later messages, such as the disconnect."""
    left = [body]

    async def replay() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return replay
