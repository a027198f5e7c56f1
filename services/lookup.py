"""Look up agents, sessions and scopes of one tenant by name, and suggest the nearest name for an unknown one."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from slowwave.errors import SlowwaveError
from slowwave_server.models import Agent, Scope, Session

NAMES_COMPARED = 2000
"""The largest number of names, newest first, that are compared with an unknown name for a suggestion."""


class UnknownName(SlowwaveError):
    """The agent, session, memory or dead letter does not exist. The message, and `nearest`, contain the
    nearest names.
    """

    def __init__(self, message: str, nearest: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.nearest = tuple(nearest)


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A session by its names, with its ids."""

    id: int
    agent_id: int
    scope_id: int


def find_agent(connection: Connection, tenant: str, agent: str) -> int:
    """Return the id of an agent. Raises UnknownName."""
    found = connection.execute(select(Agent.id).where(Agent.tenant == tenant, Agent.name == agent)).scalar()
    if found is not None:
        return found
    known = connection.execute(
        select(Agent.name).where(Agent.tenant == tenant).order_by(Agent.id.desc()).limit(NAMES_COMPARED)
    ).scalars()
    raise unknown_name(f"no agent {agent!r} in tenant {tenant!r}", agent, list(known))


def find_session(connection: Connection, tenant: str, agent: str, session: str) -> FoundSession:
    """Return a session of an agent. Raises UnknownName for an unknown agent or session."""
    agent_id = find_agent(connection, tenant, agent)
    row = connection.execute(
        select(Session.id, Session.scope_id).where(Session.agent_id == agent_id, Session.name == session)
    ).first()
    if row is not None:
        return FoundSession(row.id, agent_id, row.scope_id)
    known = connection.execute(
        select(Session.name).where(Session.agent_id == agent_id).order_by(Session.id.desc()).limit(NAMES_COMPARED)
    ).scalars()
    raise unknown_name(f"agent {agent!r} has no session {session!r}", session, list(known))


def find_scope(connection: Connection, tenant: str, kind: str, name: str) -> int | None:
    """Return the id of a scope, or None if it does not exist."""
    query = select(Scope.id).where(Scope.tenant == tenant, Scope.kind == kind, Scope.name == name)
    return connection.execute(query).scalar()


def require_scope(connection: Connection, tenant: str, scope: tuple[str, str]) -> int:
    """Return the id of a scope. Raises UnknownName for an unknown agent and for a scope without data."""
    kind, name = scope
    if kind == "agent":
        find_agent(connection, tenant, name)
    scope_id = find_scope(connection, tenant, kind, name)
    if scope_id is None:
        raise UnknownName(f"nothing was ever written to {kind} {name}, so it has no names yet")
    return scope_id


def unknown_name(message: str, name: str, known: Sequence[str]) -> UnknownName:
    """Return the error for an unknown name: `message`, and the nearest of the `known` names."""
    folded = {candidate.casefold(): candidate for candidate in reversed(known)}
    close = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    nearest = [folded[key] for key in close]
    if nearest:
        hint = f"; did you mean {' or '.join(repr(n) for n in nearest)}?"
    else:
        hint = f"; there is {known[0]!r}, for one" if known else "; there is none yet"
    return UnknownName(message + hint, nearest)
