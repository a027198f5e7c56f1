"""Shared parts of the backends' commands: the status report, the scopes of a sync, and the backlog of a scope."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from rich.console import Console

from slowwave_server.workers.cli.options import scope_parts
from slowwave_server.workers.cli.output import styled
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.services.memory_files.outbox import Backlog


@dataclass(frozen=True, slots=True)
class BackendReport:
    """The status of a backend. document: for --json; show: prints it; wrong: a person must act."""

    document: Any
    show: Callable[[], None]
    wrong: bool


class Delivery(Protocol):
    """A report of one delivery. more: another delivery is needed."""

    @property
    def more(self) -> bool: ...
    def with_next(self, report: Self, /) -> Self: ...


D = TypeVar("D", bound=Delivery)


def deliver_all(deliver: Callable[[], D]) -> D:
    """Deliver until nothing waits. Return the sums."""
    total = deliver()
    while total.more:
        total = total.with_next(deliver())
    return total


def behind(one: "Backlog") -> str:
    """Return the backlog for the end of a line; "" if nothing waits."""
    return "" if one.oldest is None else f", {one.waiting:,} waiting since {one.oldest:%Y-%m-%d %H:%M:%S} UTC"


def tell_failure(out: Console, one: "Backlog") -> None:
    """Print the error of the last delivery, if it failed."""
    if one.last_error is not None:
        again = "" if one.not_before is None else f"; retry at {one.not_before:%H:%M:%S} UTC"
        out.print(styled(f"    failed {one.attempts} times: {one.last_error}{again}", "red"), soft_wrap=True)


def scopes_to_sync(shell: Shell, agent: str | None, scope: str | None, *, backend: str, synced: str) -> dict[str, int]:
    """Return the ids of an agent's own scope, of --scope, or of all scopes of the tenant, sorted by name.

    Raises UnknownName, and InvalidSettings if memory.backend is not `backend`, which syncs `synced`.
    """
    from slowwave.errors import InvalidSettings
    from slowwave_server.services.lookup import UnknownName, find_agent, find_scope
    from slowwave_server.services.memory_files.ownership import scopes_of

    if (chosen := shell.settings.memory.backend) != backend:
        raise InvalidSettings(f"memory.backend must be {backend} to sync {synced}, got {chosen}")
    with shell.connection() as connection:
        if agent is None and scope is None:
            return scopes_of(connection, shell.tenant)
        kind, name = scope_parts(scope) if scope is not None else ("agent", agent or "")
        if scope is None:
            find_agent(connection, shell.tenant, name)
        scope_id = find_scope(connection, shell.tenant, kind, name)
    if scope_id is None:
        raise UnknownName(f"tenant {shell.tenant!r} has no scope {kind}:{name}")
    return {name if kind == "agent" else f"{kind}:{name}": scope_id}
