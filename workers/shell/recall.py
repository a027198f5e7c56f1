"""`slowwave context | search`: what an agent knows, as its next prompt would have it.

Must not know: ranking, SQL.
"""

from typing import TYPE_CHECKING, Annotated, cast

import typer

from workers.shell.options import REMEMBER, SCOPE_HELP, Agent, Json, scope_parts
from workers.shell.output import console, one_line, print_json, print_rows, safe, styled
from workers.shell.state import shell_of

if TYPE_CHECKING:
    import psycopg
    from sqlalchemy import Connection

    from slowwave.recall import Hit

Scopes = Annotated[list[str] | None, typer.Option("--scope", help=f"Besides the agent's own: {SCOPE_HELP}")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command(rich_help_panel=REMEMBER)(context)
    app.command(rich_help_panel=REMEMBER)(search)


def search(
    context: typer.Context,
    agent: Agent,
    query: Annotated[str, typer.Argument(help="What is looked for.", show_default=False)],
    *,
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many.")] = 10,
    scopes: Scopes = None,
    include_review: Annotated[
        bool, typer.Option("--include-review", help="Also memories that wait for a person's decision.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Search memories and what was said, the best first."""
    from services.reports.names import find_agent
    from slowwave import recall

    shell, wanted = shell_of(context), _checked(scopes)
    with shell.connection() as connection:
        find_agent(connection, shell.tenant, agent)
        hits = recall.search(
            _driver(connection),
            shell.tenant,
            agent,
            query,
            limit=limit,
            scopes=wanted,
            include_review=include_review,
        )
    if as_json:
        print_json([hit.to_json() for hit in hits])
        return
    if not hits:
        console().print("Nothing found.")
    for place, hit in enumerate(hits, start=1):
        _show(place, hit)


def _show(place: int, hit: "Hit") -> None:
    sources = ", ".join(f"{session}#{seq}" for session, seq in hit.sources[:5])
    marks = [hit.kind, hit.status, f"{hit.valid_from:%Y-%m-%d}", f"score {hit.score:.2f}", sources]
    out = console()
    print_rows(out, [(f"{place:>2}", styled(one_line(hit.content, 500), "bold"))])
    out.print(styled(f"    {' · '.join(mark for mark in marks if mark)}", "dim"), soft_wrap=True)


def context(
    context: typer.Context,
    agent: Agent,
    *,
    session: Annotated[str | None, typer.Option(help="The session that asks: its own tail is left out.")] = None,
    query: Annotated[str | None, typer.Option(help="What the prompt is about.")] = None,
    days: Annotated[int | None, typer.Option(min=1, help="How far back recent memories go.")] = None,
    scopes: Scopes = None,
    as_json: Json = False,
) -> None:
    """Print what would stand in the agent's next prompt."""
    from services.reports.names import find_agent
    from slowwave import recall

    shell, wanted = shell_of(context), _checked(scopes)
    with shell.connection() as connection:
        find_agent(connection, shell.tenant, agent)
        found = recall.context(
            _driver(connection),
            shell.tenant,
            agent,
            session=session,
            query=query,
            days=days,
            scopes=wanted,
            now=shell.now(),
        )
    if as_json:
        print_json(found.to_json())
    else:
        console().print(safe(found.to_text()), soft_wrap=True)


def _checked(scopes: list[str] | None) -> tuple[str, ...]:
    for scope in scopes or ():
        scope_parts(scope)
    return tuple(scopes or ())


def _driver(connection: "Connection") -> "psycopg.Connection":
    """The driver's connection below SQLAlchemy's: the client's own code reads through it."""
    return cast("psycopg.Connection", connection.connection.driver_connection)
