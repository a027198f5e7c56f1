"""`slowwave quarantine list`: events that no flush could digest.

Must not know: why an event is set aside.
"""

from typing import Annotated

import typer

from workers.shell.options import MEND, Json, Limit
from workers.shell.output import console, one_line, print_json, print_rows, styled
from workers.shell.state import shell_of

app = typer.Typer(no_args_is_help=True, help="Events that no flush could digest.")


def register(parent: typer.Typer) -> None:
    """Add these commands."""
    parent.add_typer(app, name="quarantine", rich_help_panel=MEND)


@app.callback()
def quarantine() -> None:
    """Keep `list` a command of its own, whatever else there is."""


@app.command("list")
def list_(
    context: typer.Context,
    agent: Annotated[str | None, typer.Argument(help="Only of this agent.", show_default=False)] = None,
    session: Annotated[str | None, typer.Argument(help="Only of this session of it.", show_default=False)] = None,
    *,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List events that were set aside, the newest first, with the error of each."""
    from services.reports.names import find_agent, find_session
    from services.reports.quarantine import list_quarantined

    shell = shell_of(context)
    with shell.connection() as connection:
        if agent is not None and session is not None:
            find_session(connection, shell.tenant, agent, session)
        elif agent is not None:
            find_agent(connection, shell.tenant, agent)
        events = list_quarantined(connection, shell.tenant, agent=agent, session=session, limit=limit)
    if as_json:
        print_json(events)
        return
    out = console()
    if not events:
        out.print("No event is set aside.")
    for event in events:
        name = f"{event.agent} {event.session} {event.seq}"
        said = one_line(f"{event.name or event.role}: {event.content}", 200)
        error = one_line(event.error or "no error was noted", 300)
        print_rows(out, [(styled(name, "bold"), f"since {event.quarantined_at.isoformat(timespec='seconds')}")])
        print_rows(out, [("said", said), ("error", error)], indent=4)
