"""The target of a forget: an agent, session, scope, memory or import; and its name in sentences."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from slowwave.errors import SlowwaveError
from slowwave.identity import check_name

Kind = Literal["agent", "session", "scope", "memory", "import"]


class CannotForget(SlowwaveError):
    """The target can't be forgotten now; the message gives the reason, and the completed steps."""


@dataclass(frozen=True, slots=True)
class Target:
    """One target of a forget, of one tenant. scope: (kind, name); of an import ("import", the run's number)."""

    kind: Kind
    tenant: str
    agent: str | None = None
    session: str | None = None
    scope: tuple[str, str] | None = None
    memory: UUID | None = None

    @classmethod
    def of_agent(cls, tenant: str, agent: str) -> "Target":
        """Return the target: all data of an agent, whatever scope it wrote to. Raises InvalidName."""
        return cls("agent", check_name("tenant", tenant), agent=check_name("agent", agent))

    @classmethod
    def of_session(cls, tenant: str, agent: str, session: str) -> "Target":
        """Return the target: one conversation, and the memories without other evidence. Raises InvalidName."""
        check_name("tenant", tenant)
        return cls("session", tenant, agent=check_name("agent", agent), session=check_name("session", session))

    @classmethod
    def of_scope(cls, tenant: str, kind: str, name: str) -> "Target":
        """Return a scope with its conversations and all its memories. Raises InvalidName."""
        return cls("scope", check_name("tenant", tenant), scope=(kind, check_name(kind, name)))

    @classmethod
    def of_memory(cls, tenant: str, memory: UUID) -> "Target":
        """Return the target: one memory and the memories merged into it; its conversations stay. Raises InvalidName."""
        return cls("memory", check_name("tenant", tenant), memory=memory)

    @classmethod
    def of_import(cls, tenant: str, run: int) -> "Target":
        """Return the conversations of an import, and memories without other evidence. Raises InvalidName."""
        return cls("import", check_name("tenant", tenant), scope=("import", str(run)))

    @property
    def scope_label(self) -> str | None:
        """Return the scope as `kind:name`."""
        return None if self.scope is None else ":".join(self.scope)

    def __str__(self) -> str:
        if self.kind == "agent":
            return f"agent {self.agent!r}"
        if self.kind == "session":
            return f"session {self.session!r} of agent {self.agent!r}"
        if self.kind == "import" and self.scope is not None:
            return f"what run {self.scope[1]} moved in"
        return f"scope {self.scope_label!r}" if self.kind == "scope" else f"memory {self.memory}"
