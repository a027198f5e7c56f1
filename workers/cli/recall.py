"""`slowwave search | context`: read an agent's memory as its next prompt would."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from slowwave_server.workers.cli.options import SCOPE_HELP, Agent, Json, scope_parts
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, safe, styled
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave.mem0_backend import Mem0Connection
    from slowwave.read_routing import Source
    from slowwave.recall import Context, Hit

_KNOWN = "SELECT FROM slowwave.agents WHERE tenant = %s AND name = %s"
Form = Literal["markdown", "messages", "json"]
Scopes = Annotated[list[str] | None, typer.Option("--scope", help=f"Also search {SCOPE_HELP} May be repeated.")]


def search(
    context: typer.Context,
    agent: Agent,
    query: Annotated[str, typer.Argument(help="A question, or words to search for.", show_default=False)],
    *,
    limit: Annotated[int, typer.Option(min=1, max=100, help="The largest number of hits.")] = 10,
    scopes: Scopes = None,
    include_review: Annotated[
        bool, typer.Option("--include-review", help="Also return memories that wait for review.")
    ] = False,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="The token budget of all hits (estimated).")] = None,
    min_relevance: Annotated[float, typer.Option(min=0, max=1, help="Leave out hits below this relevance.")] = 0.0,
    min_share: Annotated[
        float,
        typer.Option(min=0, max=1, help="Leave out hits with less than this share of the strongest hit's evidence."),
    ] = 0.0,
    around: Annotated[
        int, typer.Option(min=0, max=10, help="Also return this many passages before and after an event.")
    ] = 0,
    explain: Annotated[bool, typer.Option("--explain", help="Show the parts of each score.")] = False,
    as_json: Json = False,
) -> None:
    """Search memories and events, the best hit first; oldest first for a question about order or duration."""
    from slowwave import read_routing
    from slowwave.recall_requests import SearchRequest

    shell, wanted = shell_of(context), _checked(scopes)
    request = SearchRequest(agent=agent, query=query, limit=limit, scopes=wanted, include_review=include_review)
    request = replace(request, now=shell.now(), max_tokens=max_tokens, around=around)
    request = replace(request, min_relevance=min_relevance, min_share=min_share)
    with _reading(shell, agent) as source:
        hits = read_routing.search(source, shell.tenant, request)
    if as_json:
        print_json([hit.to_json() for hit in hits])
        return
    _show_hits(hits, explain=explain)


def _show_hits(hits: "list[Hit]", *, explain: bool) -> None:
    if not hits:
        console().print("No hits.")
    for place, hit in enumerate(hits, start=1):
        _show(place, hit, explain=explain)


def _show(place: int, hit: "Hit", *, explain: bool) -> None:
    from slowwave.recall.lines import period

    sources = ", ".join(f"{session}#{seq}" for session, seq in hit.sources[:5])
    disputed = "contradicted, not decided" if hit.contradicts else ""
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
    parts["recency"] = why.recency
    score = " + ".join(f"{name} {value:.2f}" for name, value in parts.items() if value)
    names = "" if why.names is None else f", {why.names:.0%} of its names"
    cosine = "" if why.cosine is None else f", cosine {why.cosine:.2f}"
    held = f"holds {why.coverage:.0%} of the question's words{names}{cosine}"
    return f"{score}; relevance {hit.relevance:.2f}: {held}; evidence {why.evidence:.2f}, best hit {why.best:.2f}"


def context(
    context: typer.Context,
    agent: Agent,
    *,
    session: Annotated[
        str | None, typer.Option(help="The session of the prompt; the context leaves out its recent events.")
    ] = None,
    query: Annotated[str | None, typer.Option(help="The topic of the prompt.")] = None,
    days: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Local days whose summaries are included, with today; default: memory.days.autoload_summary_days.",
        ),
    ] = None,
    scopes: Scopes = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=0, help="The token budget of the context (estimated); further lines are left out.")
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="The output format.")] = "markdown",
    as_json: Json = False,
) -> None:
    """Print the memory context for the agent's next prompt."""
    from slowwave import read_routing
    from slowwave.recall_requests import ContextRequest

    shell, wanted = shell_of(context), _checked(scopes)
    chosen = "json" if as_json and form == "markdown" else form
    request = ContextRequest(agent=agent, session=session, query=query, days=days, scopes=wanted)
    request = replace(request, max_tokens=max_tokens, format=chosen, now=shell.now())
    with _reading(shell, agent) as source:
        found = read_routing.context(source, shell.tenant, request)
    _print_context(found, chosen, max_tokens)


def _print_context(found: "Context", form: Form, max_tokens: int | None) -> None:
    if form != "markdown" and max_tokens is None:
        print_json(found.to_messages() if form == "messages" else found.to_json())
    else:
        # Print it exactly as its tokens were counted; indentation would add tokens.
        console().print(safe(found.render(form)), soft_wrap=True)
    if found.left_out:
        left = "1 line" if found.left_out == 1 else f"{found.left_out} lines"
        console(stderr=True).print(f"{left} did not fit into {max_tokens} tokens.")


def _checked(scopes: list[str] | None) -> tuple[str, ...]:
    for scope in scopes or ():
        scope_parts(scope)
    return tuple(scopes or ())


@contextmanager
def _reading(shell: Shell, agent: str) -> "Iterator[Source]":
    """Return a source for the client's code, without SQLAlchemy. Raises UnknownName for an unknown agent."""
    from slowwave.embedding import Embedders
    from slowwave.read_routing import Source
    from slowwave.recall import Questions

    with shell.driver() as driver:
        if driver.execute(_KNOWN, (shell.tenant, agent)).fetchone() is None:
            from slowwave_server.services.lookup import find_agent

            with shell.connection() as connection:
                find_agent(connection, shell.tenant, agent)  # raises with the nearest name
        questions = Questions(Embedders(shell.settings.memory.embeddings))
        yield Source(shell.settings, lambda work: work(driver), lambda: _mem0(shell), questions)


def _mem0(shell: Shell) -> "Mem0Connection":
    from slowwave.mem0_backend import Mem0Connection

    return Mem0Connection(shell.settings)
