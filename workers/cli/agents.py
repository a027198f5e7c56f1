"""`slowwave agents | sessions`: who there is, and how far each conversation is processed.

Must not know: SQL, what was said.
"""

from typing import Annotated

import typer

from slowwave_server.workers.cli.options import OPERATE, Agent, Json, Limit
from slowwave_server.workers.cli.output import console, print_json, print_rows, styled
from slowwave_server.workers.cli.state import shell_of


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command(rich_help_panel=OPERATE)(agents)
    app.command(rich_help_panel=OPERATE)(sessions)


def agents(
    context: typer.Context,
    *,
    after: Annotated[str | None, typer.Option(help="Begin after this name.")] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List agents by name."""
    from slowwave_server.services.reports.agents import list_agents

    shell = shell_of(context)
    with shell.connection() as connection:
        found = list_agents(connection, shell.tenant, after=after, limit=limit)
    if as_json:
        print_json(found)
    elif found:
        rows = [(styled(one.name), f"{one.sessions:,}", f"{one.dirty:,}", one.timezone) for one in found]
        print_rows(console(), [("agent", "sessions", "dirty", "time zone"), *rows])
    else:
        console().print("There is no agent." if after is None else "There are no more.")


def sessions(
    context: typer.Context,
    agent: Agent,
    *,
    dirty: Annotated[bool, typer.Option("--dirty", help="Only those with events that no flush has read.")] = False,
    before: Annotated[int | None, typer.Option(help="Begin before the one of this number.")] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List an agent's sessions, the newest first; `slowwave why` says what one waits for."""
    from slowwave_server.services.reports.agents import list_sessions

    shell = shell_of(context)
    with shell.connection() as connection:
        found = list_sessions(connection, shell.tenant, agent, dirty=dirty, before=before, limit=limit)
    if as_json:
        print_json(found)
    elif found:
        rows = [
            (str(one.number), styled(one.name), f"{one.processed:,} of {one.events:,}", styled(one.scope))
            for one in found
        ]
        print_rows(console(), [("", "session", "processed", "scope"), *rows])
    else:
        console().print("Every session is clean." if dirty else "There is no session.")
