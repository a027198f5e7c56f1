"""Read from the address whose memories a page shows: an agent's own, or those of a room or a team."""

from dataclasses import dataclass

from sqlalchemy import Connection

from slowwave.errors import InvalidName
from slowwave.identity import shared_scope
from slowwave_server.services.lookup import find_agent
from slowwave_server.services.reports.agents import agent_names
from slowwave_server.workers.console.request import PageRequest

NAMED = 200
"""So many agents are offered by name; any other can be typed."""


@dataclass(frozen=True, slots=True)
class ScopeParams:
    """An agent and, unless it is the agent's own, the scope: as text (`room:lobby`) and in the form for services."""

    agent: str
    scope: str | None

    @property
    def shared(self) -> tuple[str, str] | None:
        """The scope as ("room" or "team", name); None for the agent's own. Raises InvalidName."""
        return None if self.scope is None else shared_scope(self.scope)


def read_scope_params(req: PageRequest, connection: Connection) -> tuple[ScopeParams | None, list[str]]:
    """Return the scope in the address, and the names of agents to choose from.

    If the tenant has only one agent, the address need not name it. None: no agent is named, and there are none or
    several.
    """
    names = agent_names(connection, req.tenant, limit=NAMED)
    agent, scope = req.word("agent"), req.word("scope")
    if agent is None and len(names) == 1:
        agent = names[0]
    return (None if agent is None else ScopeParams(agent, scope)), names


def read_scope(req: PageRequest, connection: Connection) -> tuple[str, str] | None:
    """Return the scope that `agent` or `scope` names; None for all. Raises UnknownName and InvalidName."""
    agent, scope = req.word("agent"), req.word("scope")
    if agent is not None and scope is not None:
        raise InvalidName("give an agent or a scope, one of the two")
    if agent is not None:
        find_agent(connection, req.tenant, agent)
        return "agent", agent
    if scope is None:
        return None
    kind, _, name = scope.partition(":")
    return (kind, name) if kind == "agent" and name else shared_scope(scope)
