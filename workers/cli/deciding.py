"""Shared parts of commands that record a decision: the name of the person, the scope, and the run to undo."""

from typing import TYPE_CHECKING

import typer

from slowwave_server.workers.cli.output import console
from slowwave_server.workers.cli.state import operator
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.models.driver import Reads


def who(by: str | None) -> str:
    """Return the name under which a decision is recorded."""
    return by or operator()


def place_of(connection: "Reads", shell: Shell, agent: str | None, scope: str | None) -> tuple[str, str] | None:
    """Return the scope of --agent or --scope; None for all scopes. Raises UnknownName, InvalidName, BadParameter."""
    from slowwave_server.services.lookup import find_agent
    from slowwave_server.workers.cli.options import scope_parts

    if agent is not None and scope is not None:
        raise typer.BadParameter("give --agent or --scope, one of the two")
    if agent is not None:
        find_agent(connection, shell.tenant, agent)
        return "agent", agent
    return None if scope is None else scope_parts(scope)


def print_run(run: int, done: str = "Done") -> None:
    """Name the run of a change, and how to undo it."""
    console().print(f"{done} in run {run}; `slowwave run undo {run}` reverses it.")
