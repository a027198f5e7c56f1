"""`slowwave quarantine list | retry`: events that no flush could digest.

Must not know: why an event is set aside.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.options import MEND, Json, Limit
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.sentences import FOUND
from slowwave_server.workers.cli.state import Shell, shell_of

if TYPE_CHECKING:
    from slowwave.identity import SessionRef

RETRIED_AT_ONCE = 1000

app = typer.Typer(no_args_is_help=True, help="Events that no flush could digest: list, retry.")


def register(parent: typer.Typer) -> None:
    """Add these commands."""
    parent.add_typer(app, name="quarantine", rich_help_panel=MEND)


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
    from slowwave_server.services.lookup import find_agent, find_session
    from slowwave_server.services.reports.quarantine import list_quarantined

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


@app.command()
def retry(
    context: typer.Context,
    agent: Annotated[str | None, typer.Argument(show_default=False)] = None,
    session: Annotated[str | None, typer.Argument(show_default=False)] = None,
    seq: Annotated[int | None, typer.Argument(min=1, help="The event's number.", show_default=False)] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="All that are set aside.")] = False,
    as_json: Json = False,
) -> None:
    """Extract events again: what comes of one is kept, what fails again stays set aside. Exit 1 if one did."""
    from slowwave_server.services.dead_letters.quarantine import retry_quarantined
    from slowwave_server.services.extraction.build import build_extractor

    shell = shell_of(context)
    chosen = _chosen(shell, agent, session, seq, every=every)
    extractor = build_extractor(shell.settings, shell.engine, shell.redis, shell.now)
    results = [
        (ref, number, retry_quarantined(shell.engine, extractor, ref, number, shell.now())) for ref, number in chosen
    ]
    if as_json:
        print_json(
            [{"agent": ref.agent, "session": ref.session, "seq": number, "result": r} for ref, number, r in results]
        )
    else:
        for ref, number, result in results:
            told = {
                "stored": f"{pluralize(result.stored, 'memory', 'memories')} stored",
                "no_reply": "nothing in it to remember",
                "failed": f"failed again: {result.error}",
                "gone": "not set aside (any more)",
            }
            console().print(
                one_line(f"{ref.agent} {ref.session} {number}: {told[result.outcome]}", 500), soft_wrap=True
            )
        if not results:
            console().print("No event is set aside.")
    if any(result.outcome in {"failed", "gone"} for _, _, result in results):
        raise typer.Exit(FOUND)


def _chosen(
    shell: Shell, agent: str | None, session: str | None, seq: int | None, *, every: bool
) -> "list[tuple[SessionRef, int]]":
    from slowwave.identity import SessionRef
    from slowwave_server.services.lookup import find_session
    from slowwave_server.services.reports.quarantine import list_quarantined

    with shell.connection() as connection:
        if agent is not None and session is not None and seq is not None and not every:
            find_session(connection, shell.tenant, agent, session)
            return [(SessionRef(shell.tenant, agent, session), seq)]
        if agent is not None or not every:
            raise typer.BadParameter("give AGENT SESSION SEQ, or --all")
        events = list_quarantined(connection, shell.tenant, limit=RETRIED_AT_ONCE)
    return [(SessionRef(shell.tenant, event.agent, event.session), event.seq) for event in events]
