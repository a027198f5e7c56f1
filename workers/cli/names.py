"""`slowwave names list | show | add | remove`: names that mean the same, who said so, and changing them by hand.

Must not know: SQL, how aliases are learned and searched with.
"""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from slowwave_server.workers.cli.deciding import By, print_run, who
from slowwave_server.workers.cli.options import MEND, Agent, Json, Limit, Scope, scope_of
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.sentences import FOUND
from slowwave_server.workers.cli.state import shell_of

if TYPE_CHECKING:
    from slowwave_server.services.aliases.editing import AliasEdit
    from slowwave_server.services.reports.aliases import ListedAlias

LONGEST_NAME = 48
LONGEST_QUOTE = 200

Name = Annotated[str, typer.Argument(help="A name as texts write it.", show_default=False)]

app = typer.Typer(no_args_is_help=True, help="Names that mean the same: list, show, add, remove.")


def register(parent: typer.Typer) -> None:
    """Add these commands."""
    parent.add_typer(app, name="names", rich_help_panel=MEND)


@app.command("list")
def list_(
    context: typer.Context,
    agent: Agent,
    *,
    scope: Scope = None,
    removed: Annotated[bool, typer.Option("--removed", help="Also aliases that a person removed.")] = False,
    limit: Limit = 100,
    as_json: Json = False,
) -> None:
    """List the names of a scope with their aliases, and where each alias comes from."""
    from slowwave_server.services.reports.aliases import list_aliases

    shell = shell_of(context)
    with shell.connection() as connection:
        found = list_aliases(connection, shell.tenant, scope_of(agent, scope), removed=removed, limit=limit)
    if as_json:
        print_json(found)
        return
    if not found:
        console().print(
            "No names yet. A flush learns aliases such as “Kubernetes (k8s)”; `slowwave names add` adds one."
        )
        return
    rows: list[tuple[str | Text, ...]] = [_head("name", "alias", "from"), *(_row(one) for one in found)]
    print_rows(console(), rows)
    if len(found) == limit:
        console(stderr=True).print(f"These are the first {limit}; --limit shows more.")


@app.command()
def show(context: typer.Context, agent: Agent, name: Name, *, scope: Scope = None, as_json: Json = False) -> None:
    """Show all names that one name is connected with, and the texts that say so."""
    from slowwave_server.services.reports.aliases import list_aliases

    shell = shell_of(context)
    with shell.connection() as connection:
        found = list_aliases(connection, shell.tenant, scope_of(agent, scope), name=name, removed=True)
    if as_json:
        print_json(found)
    elif not found:
        console().print(f"{name} has no alias there.")
    for one in found if not as_json else ():
        console().print(styled(f"{one.name} · {one.alias} · {_origin(one)}", "bold"), soft_wrap=True)
        for source in one.sources:
            text = "the event was removed by retention" if source.content is None else source.content
            console().print(f"  {source.session}#{source.seq}: {one_line(text, LONGEST_QUOTE)}", soft_wrap=True)
    if not found:
        raise typer.Exit(FOUND)


@app.command()
def add(
    context: typer.Context,
    agent: Agent,
    name: Name,
    alias: Annotated[str, typer.Argument(help="Another name for it.", show_default=False)],
    *,
    scope: Scope = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Add an alias: a question by one of the two names finds texts with the other."""
    from slowwave_server.services.aliases.editing import add_alias

    shell = shell_of(context)
    shell.check_database()
    _print(
        add_alias(shell.engine, shell.tenant, scope_of(agent, scope), name, alias, by=who(by), now=shell.now()),
        as_json=as_json,
    )


@app.command()
def remove(
    context: typer.Context,
    agent: Agent,
    name: Name,
    alias: Annotated[str | None, typer.Argument(help="Default: all aliases of the name.", show_default=False)] = None,
    *,
    scope: Scope = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Remove an alias. No flush learns it again."""
    from slowwave_server.services.aliases.editing import remove_alias

    shell = shell_of(context)
    shell.check_database()
    _print(
        remove_alias(shell.engine, shell.tenant, scope_of(agent, scope), name, alias, by=who(by), now=shell.now()),
        as_json=as_json,
    )


def _row(one: "ListedAlias") -> tuple[str, ...]:
    return one_line(one.name, LONGEST_NAME), one_line(one.alias, LONGEST_NAME), _origin(one)


def _origin(one: "ListedAlias") -> str:
    """Who said it, or decided it."""
    if one.status != "learned":
        return f"{one.status} by {one.decided_by}" if one.decided_by else one.status
    first = one.sources[0]
    more = f" and {one.source_count - 1:,} more" if one.source_count > 1 else ""
    return f"{first.session}#{first.seq}{more}"


def _print(done: "AliasEdit", *, as_json: bool) -> None:
    if as_json:
        print_json(done)
        return
    for name, alias in done.pairs:
        console().print(f"{done.action}: {name} · {alias}", soft_wrap=True)
    print_run(done.run)


def _head(*names: str) -> tuple[Text, ...]:
    return tuple(styled(name, "dim") for name in names)
