"""`slowwave mcp`: one agent's memory as an MCP server on stdio."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.options import SCOPE_HELP, scope_parts
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import USAGE
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave import Memory
    from slowwave_server.services.reports.explain import Explanation
    from slowwave_server.workers.mcp_tools import AgentTools


def mcp(
    context: typer.Context,
    *,
    agent: Annotated[str, typer.Option(help="The agent whose memory is served.", show_default=False)],
    scopes: Annotated[
        list[str] | None,
        typer.Option("--scope", help=f"Another scope to read and write: {SCOPE_HELP} May be repeated."),
    ] = None,
) -> None:
    """Serve one agent's memory to an MCP client on stdio, until the client disconnects."""
    from slowwave import Memory
    from slowwave.identity import check_name

    check_name("agent", agent)
    for scope in scopes or ():
        scope_parts(scope)
    if find_spec("mcp") is None:
        complain("the package mcp is not installed", "install the extra `mcp` of slowwave-server (docs/install.md)")
        raise typer.Exit(USAGE)
    from slowwave_server.workers.mcp_server import make_server

    shell = shell_of(context)
    with Memory(shell.settings) as memory:
        memory.warm()
        make_server(tools_of(shell, memory, agent, scopes or ())).run("stdio")


def tools_of(shell: Shell, memory: "Memory", agent: str, scopes: Sequence[str]) -> "AgentTools":
    """Return the tools of one agent."""
    from slowwave_server.workers.mcp_tools import AgentTools
    from slowwave_server.workers.shared.flush_requests import flush_sessions

    return AgentTools(
        memory=memory,
        agent=agent,
        scopes=tuple(dict.fromkeys(scopes)),
        explain_memory=lambda memory_id: _explain(shell, memory_id),
        flush_sessions=lambda: flush_sessions(shell, agent),
    )


def _explain(shell: Shell, memory: str) -> "Explanation":
    from slowwave_server.services.reports.explain import explain_memory
    from slowwave_server.services.reports.memory_ids import memory_called

    with shell.connection() as connection:
        return explain_memory(connection, shell.tenant, memory_called(connection, shell.tenant, memory))
