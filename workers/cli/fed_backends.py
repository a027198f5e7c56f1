"""What the commands of all backends that are fed (`files`, `mem0`) have in common: their scopes, and what waits.

Must not know: how any of them is fed.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol, Self, TypeVar

from rich.console import Console

from slowwave_server.workers.cli.options import scope_parts
from slowwave_server.workers.cli.output import styled
from slowwave_server.workers.cli.state import Shell


class Delivery(Protocol):
    """A report of one delivery. more: something is left for another."""

    @property
    def more(self) -> bool: ...
    def with_next(self, report: Self, /) -> Self: ...


class Waiting(Protocol):
    """A scope's backlog, as reports have it."""

    @property
    def waiting(self) -> int: ...
    @property
    def oldest(self) -> datetime | None: ...
    @property
    def attempts(self) -> int: ...
    @property
    def not_before(self) -> datetime | None: ...
    @property
    def last_error(self) -> str | None: ...


D = TypeVar("D", bound=Delivery)


def deliver_all(deliver: Callable[[], D]) -> D:
    """Deliver until nothing is left; the sums of it."""
    total = deliver()
    while total.more:
        total = total.with_next(deliver())
    return total


def behind(one: Waiting) -> str:
    """What waits, for the end of a line; "" where nothing does."""
    return "" if one.oldest is None else f", {one.waiting:,} waiting since {one.oldest:%Y-%m-%d %H:%M:%S} UTC"


def tell_failure(out: Console, one: Waiting) -> None:
    """Print what the last delivery failed at, if it did."""
    if one.last_error is not None:
        again = "" if one.not_before is None else f"; tried again at {one.not_before:%H:%M:%S} UTC"
        out.print(styled(f"    failed {one.attempts} times: {one.last_error}{again}", "red"), soft_wrap=True)


def scopes_meant(shell: Shell, agent: str | None, scope: str | None) -> dict[str, int]:
    """An agent's own scope, another one, or all of the tenant, by name. Raises UnknownName."""
    from slowwave_server.services.lookup import UnknownName, find_agent, find_scope
    from slowwave_server.services.memory_files.ownership import scopes_of

    with shell.connection() as connection:
        if agent is None and scope is None:
            return scopes_of(connection, shell.tenant)
        kind, name = scope_parts(scope) if scope is not None else ("agent", agent or "")
        if scope is None:
            find_agent(connection, shell.tenant, name)
        scope_id = find_scope(connection, shell.tenant, kind, name)
    if scope_id is None:
        raise UnknownName(f"nothing was ever written to {kind}:{name} in tenant {shell.tenant!r}")
    return {name if kind == "agent" else f"{kind}:{name}": scope_id}
