"""`slowwave webhook list | add | show | remove | rotate | enable`: URLs that receive changes to memories."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from slowwave_server.workers.cli.options import Json
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.state import operator, shell_of
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

Webhook = Annotated[UUID, typer.Argument(metavar="WEBHOOK", help="The webhook's id.", show_default=False)]
_FIELDS = (
    *("id", "url", "description", "agents", "scopes", "types", "created_at", "created_by"),
    *("disabled_at", "disabled_why", "failing_since", "last_success_at"),
)


def list_(context: typer.Context, *, as_json: Json = False) -> None:
    """List the webhooks of the tenant, the oldest first."""
    from slowwave_server.services.webhooks.endpoints import list_endpoints

    shell = shell_of(context)
    with shell.connection() as connection:
        found = [_document(row) for row in list_endpoints(connection, shell.tenant)]
    if as_json:
        print_json(found)
    elif found:
        rows = [(str(one["id"]), one_line(one["url"], 60), _reach(one), _state(one)) for one in found]
        print_rows(console(), [("webhook", "url", "access", "state"), *rows])
    else:
        told = f"Tenant {shell.tenant} has no webhooks: `slowwave webhook add URL` adds one."
        console().print(styled(told), soft_wrap=True)


def add(
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="The https URL that receives changes.", show_default=False)],
    *,
    agents: Annotated[
        list[str] | None,
        typer.Option("--agent", metavar="NAME", help="Only changes of this agent, or a pattern (app-*); default: all."),
    ] = None,
    scopes: Annotated[
        list[str] | None,
        typer.Option("--scope", help="Only changes of room:NAME or team:NAME, or a pattern; default: none."),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="Only changes of this type, such as archived; default: all."),
    ] = None,
    description: Annotated[str, typer.Option(help="The purpose of the webhook.")] = "",
    as_json: Json = False,
) -> None:
    """Add a webhook that receives changes from now on. Prints its secret to stdout, once, and the rest to stderr."""
    from slowwave_server.services.webhooks.endpoints import NewEndpoint, make_endpoint

    shell = shell_of(context)
    _check(shell, url, scopes or (), types or ())
    with shell.connection() as connection:
        wanted = NewEndpoint(url, agents or (), scopes or (), types or (), description)
        made, secret = make_endpoint(connection, shell.tenant, wanted, by=operator())
        _note(shell, connection, f"webhook {made} to {url} was added")
        connection.commit()
    _print_secret(made, secret, "was added", as_json=as_json)


def show(context: typer.Context, webhook: Webhook, *, as_json: Json = False) -> None:
    """Show one webhook: what it receives, and whether deliveries succeed."""
    shell = shell_of(context)
    with shell.connection() as connection:
        found = _document(find_webhook(connection, shell, webhook))
    if as_json:
        print_json(found)
        return
    labels = {name: name.replace("_", " ") for name in _FIELDS}
    rows = [(labels[name], _shown(value)) for name, value in found.items() if value not in (None, "", [])]
    print_rows(console(), [*rows, ("state", _state(found))])


def remove(context: typer.Context, webhook: Webhook, *, as_json: Json = False) -> None:
    """Remove a webhook with its secrets and its delivery log."""
    from slowwave_server.services.webhooks.endpoints import remove_endpoint

    shell = shell_of(context)
    with shell.connection() as connection:
        url = find_webhook(connection, shell, webhook).url
        remove_endpoint(connection, webhook)
        _note(shell, connection, f"webhook {webhook} to {url} was removed")
        connection.commit()
    if as_json:
        print_json({"id": webhook, "removed": True})
    else:
        console().print(styled(f"The webhook to {url} is removed."), soft_wrap=True)


def rotate(context: typer.Context, webhook: Webhook, *, as_json: Json = False) -> None:
    """Make a new secret, and print it once. The previous secret stays valid for 24 hours."""
    from slowwave_server.services.webhooks.endpoints import rotate_secret

    shell = shell_of(context)
    with shell.connection() as connection:
        find_webhook(connection, shell, webhook)
        secret = rotate_secret(connection, webhook)
        _note(shell, connection, f"webhook {webhook} got a new secret")
        connection.commit()
    _print_secret(webhook, secret, "has a new secret", as_json=as_json)


def enable(context: typer.Context, webhook: Webhook, *, as_json: Json = False) -> None:
    """Enable a disabled webhook. Deliveries continue at once, with the changes that it missed."""
    from slowwave_server.services.webhooks.endpoints import enable_endpoint

    shell = shell_of(context)
    with shell.connection() as connection:
        find_webhook(connection, shell, webhook)
        enable_endpoint(connection, webhook)
        connection.commit()
        found = _document(find_webhook(connection, shell, webhook))
    if as_json:
        print_json(found)
    else:
        console().print(styled(f"The webhook to {found['url']} is enabled."), soft_wrap=True)


def find_webhook(connection: "Connection", shell: Shell, webhook: UUID) -> "Row[Any]":
    """Return the endpoint of the tenant. Raises UnknownName."""
    from slowwave_server.services.lookup import UnknownName
    from slowwave_server.services.webhooks.endpoints import read_endpoint

    row = read_endpoint(connection, shell.tenant, webhook)
    if row is None:
        raise UnknownName(f"tenant {shell.tenant!r} has no webhook {webhook}; `slowwave webhook list` lists them")
    return row


def _check(shell: Shell, url: str, scopes: "tuple[()] | list[str]", types: "tuple[()] | list[str]") -> None:
    from typing import get_args

    from slowwave.changes import ChangeType
    from slowwave_server.services.webhooks.targets import TargetRefused, read_networks, read_target

    for scope in scopes:
        if scope.partition(":")[0] not in {"room", "team"} or not scope.partition(":")[2]:
            raise typer.BadParameter(f"--scope must be room:NAME or team:NAME, or a pattern of one, got {scope!r}")
    known = get_args(ChangeType)
    for one in types:
        if one not in known:
            raise typer.BadParameter(f"--type must be one of {', '.join(known)}, got {one!r}")
    try:
        read_target(url, read_networks(shell.settings.gateway.webhooks.allow_private))
    except TargetRefused as error:
        raise typer.BadParameter(f"URL: {error}") from None


def _note(shell: Shell, connection: "Connection", what: str) -> None:
    from slowwave_server.services.access.audit_log import note_act

    note_act(connection, "key", operator(), what, tenant=shell.tenant, via="shell", now=shell.now())


def _print_secret(webhook: UUID, secret: str, what: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"id": webhook, "secret": secret})
        return
    sys.stderr.write(f"The webhook {webhook} {what}.\nIts signing secret, shown only now:\n")
    sys.stdout.write(f"{secret}\n")


def _document(row: "Row[Any]") -> dict[str, Any]:
    return {name: getattr(row, name) for name in _FIELDS}


def _reach(one: Mapping[str, Any]) -> str:
    return one_line(", ".join([*(one["agents"] or ["all agents"]), *one["scopes"]]), 60)


def _state(one: Mapping[str, Any]) -> str:
    if one["disabled_at"] is not None:
        return f"disabled since {one['disabled_at']:%Y-%m-%d %H:%M} UTC: {one['disabled_why']}"
    if one["failing_since"] is not None:
        return f"failing since {one['failing_since']:%Y-%m-%d %H:%M} UTC"
    return "no delivery yet" if one["last_success_at"] is None else "ok"


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return one_line(", ".join(map(str, value)), 200)
    return f"{value:%Y-%m-%d %H:%M} UTC" if hasattr(value, "tzinfo") else one_line(str(value), 300)
