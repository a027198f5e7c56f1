"""Which scopes a reader may read: the agent's own, and the rooms and teams that the caller names.

Must not know: what is read from them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from slowwave.errors import InvalidName
from slowwave.identity import check_name

MAX_SCOPES = 20
SHARED_KINDS = ("room", "team")


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads, and from where: (kind, name) pairs of one tenant, the agent's own scope first, none twice."""

    tenant: str
    agent: str
    scopes: tuple[tuple[str, str], ...]


def reader(tenant: str, agent: str, scopes: Sequence[str]) -> Reader:
    """Check the names. `scopes`: "room:NAME" or "team:NAME", at most 20. Raises `InvalidName`."""
    check_name("tenant", tenant)
    check_name("agent", agent)
    if isinstance(scopes, str):
        raise InvalidName(f"scopes must be a list of scopes, not the text {scopes[:50]!r}")
    pairs = [("agent", agent), *(shared_scope(scope) for scope in scopes)]
    if len(pairs) > MAX_SCOPES + 1:
        raise InvalidName(f"one reading takes at most {MAX_SCOPES} scopes beside the agent's own, not {len(pairs) - 1}")
    return Reader(tenant, agent, tuple(dict.fromkeys(pairs)))


def shared_scope(scope: str) -> tuple[str, str]:
    """Answer ("room" or "team", name) for "room:NAME" or "team:NAME". Raises `InvalidName`."""
    kind, colon, name = scope.partition(":") if isinstance(scope, str) else ("", "", "")
    if not colon or kind not in SHARED_KINDS:
        raise InvalidName(f'scope: "room:NAME" or "team:NAME" is meant, not {scope!r:.60}')
    return kind, check_name(kind, name)


def scope_label(kind: str, name: str) -> str | None:
    """Answer how a scope is called outside: None for an agent's own, else "room:NAME" or "team:NAME"."""
    return None if kind == "agent" else f"{kind}:{name}"
