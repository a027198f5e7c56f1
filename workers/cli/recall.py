"""`slowwave context | search`: read an agent's memory as its next prompt would.

Must not know: ranking, SQL.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from slowwave_server.workers.cli.options import REMEMBER, SCOPE_HELP, Agent, Json, scope_parts
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, safe, styled
from slowwave_server.workers.cli.state import Shell, shell_of

if TYPE_CHECKING:
    import psycopg
    from sqlalchemy import Connection

    from slowwave.reading import Source
    from slowwave.recall import Context, Hit

Form = Literal["markdown", "messages", "json"]
Scopes = Annotated[list[str] | None, typer.Option("--scope", help=f"Besides the agent's own: {SCOPE_HELP}")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command(rich_help_panel=REMEMBER)(context)
    app.command(rich_help_panel=REMEMBER)(search)


def search(
    context: typer.Context,
    agent: Agent,
    query: Annotated[str, typer.Argument(help="The question or the words to search for.", show_default=False)],
    *,
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many.")] = 10,
    scopes: Scopes = None,
    include_review: Annotated[
        bool, typer.Option("--include-review", help="Also memories that wait for a person's decision.")
    ] = False,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Token budget of all hits, by estimate.")] = None,
    min_relevance: Annotated[float, typer.Option(min=0, max=1, help="Leave out hits of less relevance.")] = 0.0,
    around: Annotated[int, typer.Option(min=0, max=10, help="Also so many passages before and after an event.")] = 0,
    explain: Annotated[bool, typer.Option("--explain", help="Show how the score of each hit was made.")] = False,
    as_json: Json = False,
) -> None:
    """Search memories and events, best first; oldest first for a question about order or duration."""
    from slowwave import reading
    from slowwave_server.services.lookup import find_agent

    shell, wanted = shell_of(context), _checked(scopes)
    with shell.connection() as connection:
        find_agent(connection, shell.tenant, agent)
        asked: dict[str, Any] = {"limit": limit, "scopes": wanted, "include_review": include_review}
        asked |= {"max_tokens": max_tokens, "min_relevance": min_relevance, "around": around, "now": shell.now()}
        hits = reading.search(_source(shell, connection), shell.tenant, agent, query, **asked)
    if as_json:
        print_json([hit.to_json() for hit in hits])
        return
    if not hits:
        console().print("Nothing known.")
    for place, hit in enumerate(hits, start=1):
        _show(place, hit, explain=explain)


def _show(place: int, hit: "Hit", *, explain: bool) -> None:
    from slowwave.recall.lines import period

    sources = ", ".join(f"{session}#{seq}" for session, seq in hit.sources[:5])
    disputed = "contradicted, undecided" if hit.contradicts else ""
    marks = [hit.kind, hit.status, period(hit), disputed, f"score {hit.score:.2f}", sources]
    out = console()
    print_rows(out, [(f"{place:>2}", styled(one_line(hit.content, 500), "bold"))])
    out.print(styled(f"    {' · '.join(mark for mark in marks if mark)}", "dim"), soft_wrap=True)
    if explain and hit.why is not None:
        out.print(styled(f"    {_why(hit)}", "dim"), soft_wrap=True)


def _why(hit: "Hit") -> str:
    """Format the parts of the score and of the relevance."""
    why = hit.why
    if why is None or hit.relevance is None:
        return ""
    parts = {"words": why.words, "session": why.session, "vector": why.vector, "interval": why.interval}
    score = " + ".join(f"{name} {value:.2f}" for name, value in parts.items() if value)
    cosine = "" if why.cosine is None else f", cosine {why.cosine:.2f}"
    return f"{score}; relevance {hit.relevance:.2f}: holds {why.coverage:.0%} of the question's words{cosine}"


def context(
    context: typer.Context,
    agent: Agent,
    *,
    session: Annotated[str | None, typer.Option(help="The session that asks; its own tail is left out.")] = None,
    query: Annotated[str | None, typer.Option(help="What the prompt is about.")] = None,
    days: Annotated[
        int | None,
        typer.Option(min=0, help="Local days to look back on, today included.  [memory.days.autoload_summary_days]"),
    ] = None,
    scopes: Scopes = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=0, help="Token budget of the context, by estimate; the rest is left out.")
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="Output format.")] = "markdown",
    as_json: Json = False,
) -> None:
    """Print the context of the agent's next prompt."""
    from slowwave import reading
    from slowwave_server.services.lookup import find_agent

    shell, wanted = shell_of(context), _checked(scopes)
    chosen = "json" if as_json and form == "markdown" else form
    with shell.connection() as connection:
        find_agent(connection, shell.tenant, agent)
        found = reading.context(
            _source(shell, connection),
            shell.tenant,
            agent,
            session=session,
            query=query,
            days=days,
            scopes=wanted,
            max_tokens=max_tokens,
            format=chosen,
            now=shell.now(),
        )
    _print_context(found, chosen, max_tokens)


def _print_context(found: "Context", form: Form, max_tokens: int | None) -> None:
    if form != "markdown" and max_tokens is None:
        print_json(found.to_messages() if form == "messages" else found.to_json())
    else:
        # Printed as counted; indentation would take more tokens.
        console().print(safe(found.render(form)), soft_wrap=True)
    if found.left_out:
        left = "1 line" if found.left_out == 1 else f"{found.left_out} lines"
        console(stderr=True).print(f"{left} did not fit into {max_tokens} tokens.")


def _checked(scopes: list[str] | None) -> tuple[str, ...]:
    for scope in scopes or ():
        scope_parts(scope)
    return tuple(scopes or ())


def _source(shell: Shell, connection: "Connection") -> "Source":
    """Read with the client's code through the driver's connection of SQLAlchemy."""
    from slowwave.embedding import Embedders
    from slowwave.mem0_backend import Mem0Connection
    from slowwave.reading import Source
    from slowwave.recall import Questions

    driver = cast("psycopg.Connection", connection.connection.driver_connection)
    questions = Questions(Embedders(shell.settings.memory.embeddings))
    return Source(shell.settings, lambda work: work(driver), lambda: Mem0Connection(shell.settings), questions)
