"""Look up agents, sessions and scopes of one tenant by name, and suggest the nearest name for an unknown one."""

import difflib
from collections.abc import Sequence
from typing import NamedTuple

from slowwave.errors import SlowwaveError
from slowwave_server.models.driver import Reads, read_rows

NAMES_COMPARED = 2000
"""The largest number of names, newest first, that are compared with an unknown name for a suggestion."""

_AGENT = "SELECT id FROM slowwave.agents WHERE tenant = %(tenant)s AND name = %(name)s"
_AGENTS = "SELECT name FROM slowwave.agents WHERE tenant = %(tenant)s ORDER BY id DESC LIMIT %(most)s"
_SESSION = "SELECT id, scope_id FROM slowwave.sessions WHERE agent_id = %(agent)s AND name = %(name)s"
_SESSIONS = "SELECT name FROM slowwave.sessions WHERE agent_id = %(agent)s ORDER BY id DESC LIMIT %(most)s"
_SCOPE = "SELECT id FROM slowwave.scopes WHERE tenant = %(tenant)s AND kind = %(kind)s AND name = %(name)s"


class UnknownName(SlowwaveError):
    """The agent, session, memory or dead letter does not exist. The message and `nearest` hold the nearest names."""

    def __init__(self, message: str, nearest: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.nearest = tuple(nearest)


class FoundSession(NamedTuple):
    """A session by its names, with its ids."""

    id: int
    agent_id: int
    scope_id: int


def find_agent(connection: Reads, tenant: str, agent: str) -> int:
    """Return the id of an agent. Raises UnknownName."""
    found = read_rows(connection, _AGENT, {"tenant": tenant, "name": agent})
    if found:
        return int(found[0]["id"])
    known = read_rows(connection, _AGENTS, {"tenant": tenant, "most": NAMES_COMPARED})
    raise unknown_name(f"no agent {agent!r} in tenant {tenant!r}", agent, [row["name"] for row in known])


def find_session(connection: Reads, tenant: str, agent: str, session: str) -> FoundSession:
    """Return a session of an agent. Raises UnknownName for an unknown agent or session."""
    agent_id = find_agent(connection, tenant, agent)
    found = read_rows(connection, _SESSION, {"agent": agent_id, "name": session})
    if found:
        return FoundSession(found[0]["id"], agent_id, found[0]["scope_id"])
    known = read_rows(connection, _SESSIONS, {"agent": agent_id, "most": NAMES_COMPARED})
    raise unknown_name(f"agent {agent!r} has no session {session!r}", session, [row["name"] for row in known])


def find_scope(connection: Reads, tenant: str, kind: str, name: str) -> int | None:
    """Return the id of a scope, or None if it does not exist."""
    found = read_rows(connection, _SCOPE, {"tenant": tenant, "kind": kind, "name": name})
    return int(found[0]["id"]) if found else None


def require_scope(connection: Reads, tenant: str, scope: tuple[str, str]) -> int:
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
