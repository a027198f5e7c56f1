"""`slowwave alias list | show | add | remove`: names that mean the same."""

from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.deciding import print_run, who
from slowwave_server.workers.cli.options import Agent, By, Json, Limit, Scope, scope_of
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import FOUND

if TYPE_CHECKING:
    from slowwave_server.services.aliases.editing import AliasEdit
    from slowwave_server.services.reports.aliases import ListedAlias

LONGEST_NAME = 48
LONGEST_QUOTE = 200

Name = Annotated[str, typer.Argument(help="A name as it is written in texts.", show_default=False)]


def list_(
    context: typer.Context,
    agent: Agent,
    *,
    scope: Scope = None,
    removed: Annotated[bool, typer.Option("--removed", help="Also list aliases that a person removed.")] = False,
    limit: Limit = 100,
    as_json: Json = False,
) -> None:
    """List the names of a scope with their aliases and the source of each alias."""
    from slowwave_server.services.reports.aliases import list_aliases

    shell = shell_of(context)
    with shell.connection() as connection:
        found = list_aliases(connection, shell.tenant, scope_of(agent, scope), removed=removed, limit=limit)
    if as_json:
        print_json(found)
        return
    if not found:
        console().print(
            "There are no aliases yet. A flush learns “Kubernetes (k8s)”; `slowwave alias add` adds an alias."
        )
        return
    rows: list[tuple[str, ...]] = [_head("name", "alias", "from"), *(_row(one) for one in found)]
    print_rows(console(), rows)
    if len(found) == limit:
        console(stderr=True).print(f"These are the first {limit}; --limit shows more.")


def show(context: typer.Context, agent: Agent, name: Name, *, scope: Scope = None, as_json: Json = False) -> None:
    """Show all aliases of a name, and the texts they come from. Exit 1 if there are none."""
    from slowwave_server.services.reports.aliases import list_aliases

    shell = shell_of(context)
    with shell.connection() as connection:
        found = list_aliases(connection, shell.tenant, scope_of(agent, scope), name=name, removed=True)
    if as_json:
        print_json(found)
    elif not found:
        console().print(f"{name} has no alias in this scope.")
    for one in found if not as_json else ():
        console().print(styled(f"{one.name} · {one.alias} · {_origin(one)}", "bold"), soft_wrap=True)
        for source in one.sources:
            text = "retention removed the event" if source.content is None else source.content
            console().print(f"  {source.session}#{source.seq}: {one_line(text, LONGEST_QUOTE)}", soft_wrap=True)
    if not found:
        raise typer.Exit(FOUND)


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
    """Add an alias: a search for one name also finds texts with the other."""
    from slowwave_server.services.aliases.editing import add_alias

    shell = shell_of(context)
    shell.check_database()
    _print(
        add_alias(shell.engine, shell.tenant, scope_of(agent, scope), name, alias, by=who(by), now=shell.now()),
        as_json=as_json,
    )


def remove(
    context: typer.Context,
    agent: Agent,
    name: Name,
    alias: Annotated[
        str | None, typer.Argument(help="The alias; default: all aliases of the name.", show_default=False)
    ] = None,
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
    """Return the source of an alias, or the person who decided."""
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


def _head(*names: str) -> tuple[str, ...]:
    return tuple(styled(name, "dim") for name in names)
