"""The caller of a request: its key with agents, scopes and rights. Postgres separates tenants."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from slowwave.errors import SlowwaveError
from slowwave.identity import check_name, shared_scope
from slowwave_server.services.access.api_keys import Right
from slowwave_server.services.access.reach import Reach


class NotThere(SlowwaveError):
    """The requested thing does not exist, or the key does not reach it; the answer does not say which."""


class RightMissing(SlowwaveError):
    """The key does not have the right that this route needs."""

    def __init__(self, *rights: Right) -> None:
        super().__init__(f"this key does not have the right {' or '.join(map(repr, rights))}")
        self.rights = rights


def nothing(what: str, name: object) -> NotThere:
    """Return the error for a thing ("memory") that does not exist or that the key does not reach."""
    return NotThere(f"there is no {what} {str(name)[:200]!r} that this key reaches")


@dataclass(frozen=True, slots=True)
class Caller:
    """One key. prefix: its first characters, which are not secret. digest: the SHA-256 that Postgres stores."""

    key_id: UUID
    name: str
    prefix: str
    tenant: str
    agents: tuple[str, ...]
    scopes: tuple[str, ...]
    rights: frozenset[str]
    digest: str = field(repr=False)

    @property
    def reach(self) -> Reach:
        """The key's agents and scopes."""
        return Reach(self.agents, self.scopes)

    def may(self, right: Right) -> bool:
        """Return True if the key has a right."""
        return right in self.rights

    def require(self, *rights: Right) -> None:
        """Raise RightMissing unless the key has one of these rights."""
        if self.rights.isdisjoint(rights):
            raise RightMissing(*rights)

    def agent(self, name: str) -> str:
        """Return the name of an agent that the key reaches. Raises NotThere, InvalidName."""
        if not self.reach.admits_agent(check_name("agent", name)):
            raise nothing("agent", name)
        return name

    def scope(self, scope: str) -> str:
        """Return a room or team that the key reaches, as "room:NAME" or "team:NAME". Raises NotThere, InvalidName."""
        kind, name = shared_scope(scope)
        if not self.reach.admits(kind, name):
            raise nothing(kind, name)
        return scope

    def all_scopes(self, scopes: Iterable[str]) -> tuple[str, ...]:
        """Check several scopes. Raises as `scope` does."""
        return tuple(self.scope(scope) for scope in scopes)

    def require_place(self, kind: str, name: str, what: str, called: object) -> None:
        """Raise NotThere about `what` (a memory, a run …) unless the key reaches its scope."""
        if not self.reach.admits(kind, name):
            raise nothing(what, called)
