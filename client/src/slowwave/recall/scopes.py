"""The scopes that a reader may read: the agent's own, and the rooms and teams that the caller names."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from slowwave.errors import InvalidName, shown
from slowwave.identity import check_name, shared_scope

MAX_SCOPES = 20


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader: a tenant and its (kind, name) pairs without duplicates, the agent's own scope first."""

    tenant: str
    agent: str
    scopes: tuple[tuple[str, str], ...]


def reader(tenant: str, agent: str, scopes: Sequence[str]) -> Reader:
    """Check the names, and return the reader. scopes: "room:NAME" or "team:NAME", at most 20. Raises `InvalidName`."""
    check_name("tenant", tenant)
    check_name("agent", agent)
    if isinstance(scopes, (str, bytes)) or not isinstance(scopes, Collection):
        raise InvalidName(f"scopes must be a list of scopes, got {shown(scopes)}")
    pairs = [("agent", agent), *(shared_scope(scope) for scope in scopes)]
    if len(pairs) > MAX_SCOPES + 1:
        raise InvalidName(f"one reading takes at most {MAX_SCOPES} scopes beside the agent's own, not {len(pairs) - 1}")
    return Reader(tenant, agent, tuple(dict.fromkeys(pairs)))


def scope_label(kind: str, name: str) -> str | None:
    """Return the public name of a scope: None for an agent's own, else "room:NAME" or "team:NAME"."""
    return None if kind == "agent" else f"{kind}:{name}"
