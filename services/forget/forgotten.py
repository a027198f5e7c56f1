"""Match queued data outside of Postgres with a forgotten target, by the names in the data."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slowwave.capture import Entry


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The forgotten target of one tenant: an agent, one of its sessions, or a scope (`kind:name`).

    sessions: the sessions of a scope, as (agent, session); elsewhere: other sessions of the agent that owns the scope.
    """

    tenant: str
    agent: str | None = None
    session: str | None = None
    scope: str | None = None
    sessions: frozenset[tuple[str, str]] = frozenset()
    elsewhere: frozenset[tuple[str, str]] = frozenset()

    def covers(self, tenant: Any, agent: Any, session: Any, scope: Any = None) -> bool:
        """Return True if the data belongs to the target. scope: as a caller names it, None for the agent's own."""
        if tenant != self.tenant:
            return False
        if self.scope is None:
            own = f"agent:{self.agent}" if self.session is None else None
            return (agent == self.agent and self.session in {None, session}) or (own is not None and scope == own)
        if self.scope == scope or (agent, session) in self.sessions:
            return True
        return scope is None and self.scope == f"agent:{agent}" and (agent, session) not in self.elsewhere

    def covers_entry(self, entry: Entry) -> bool:
        """Return True if an entry of the spool belongs to the target."""
        about = entry.about or {}
        scope = f"{about['scope_kind']}:{about.get('scope_name')}" if about.get("scope_kind") else None
        return self.covers(entry.tenant, entry.agent, entry.session, scope)

    def may_be_in(self, text: str) -> bool:
        """Return True if an unreadable text may belong to the target: it contains its name as JSON writes it."""
        name = self.session or self.agent or self.scope
        return name is not None and (json.dumps(name) in text or json.dumps(name, ensure_ascii=False) in text)

    def covers_arguments(self, arguments: Mapping[str, Any], tenant: str) -> bool:
        """Return True if a message with these arguments belongs to the target. tenant: used if they name none."""
        return self.covers(
            arguments.get("tenant") or tenant,
            arguments.get("agent"),
            arguments.get("session"),
            arguments.get("scope"),
        )
