"""`slowwave admin keys`: API keys of the HTTP gateway."""

import re
import sys
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.options import Json
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.state import operator, shell_of
from slowwave_server.workers.shared.failures import FOUND
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from slowwave_server.services.access.api_keys import Key

_DAYS = re.compile(r"([0-9]{1,5})d")

Rights = Annotated[
    list[str],
    typer.Option("--right", help="record, read, decide, forget or administer; may be repeated.", metavar="RIGHT"),
]
Agents = Annotated[
    list[str] | None,
    typer.Option(
        "--agent", help="An agent that the key may access, or a pattern (app-*); default: all.", metavar="NAME"
    ),
]
Scopes = Annotated[
    list[str] | None,
    typer.Option(
        "--scope", help="room:NAME or team:NAME that the key may access, or a pattern; default: none.", metavar="SCOPE"
    ),
]
Expires = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="When the key expires: 90d from now, a day, or a time (UTC without a zone); default: never.",
    ),
]


def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The purpose of the key, for lists.", show_default=False)],
    *,
    right: Rights = ["record", "read"],  # noqa: B006 (Typer shows and copies it)
    agent: Agents = None,
    scope: Scopes = None,
    expires: Expires = None,
    as_json: Json = False,
) -> None:
    """Make a key. Prints the key to stdout, once, and everything else to stderr."""
    from slowwave_server.services.access.api_keys import NewKey, make_key

    shell = shell_of(context)
    wanted = NewKey(name, right, agent or (), scope or (), _moment(expires, shell.now()))
    with shell.connection() as connection:
        key, secret = make_key(connection, shell.tenant, wanted, by=operator(), now=shell.now())
        _note(shell, connection, key, f"was made with the rights {', '.join(key.rights)}")
        connection.commit()
    if as_json:
        print_json({"key": secret} | asdict(key))
        return
    until = "until it is revoked" if key.expires_at is None else f"until {key.expires_at:%Y-%m-%d %H:%M} UTC"
    told = f"{one_line(key.name)} is a key of tenant {key.tenant}: {', '.join(key.rights)}, for {_reach(key)}, {until}."
    sys.stderr.write(f"{told}\nThe key, shown only now:\n")
    sys.stdout.write(f"{secret}\n")


def list_all(context: typer.Context, *, as_json: Json = False) -> None:
    """List the keys of the tenant, the newest first, with rights, state and last use."""
    from slowwave_server.services.access.api_keys import list_keys

    shell = shell_of(context)
    with shell.connection() as connection:
        known = list_keys(connection, shell.tenant)
    now = shell.now()
    if as_json:
        print_json([asdict(key) | {"state": key.state(now)} for key in known])
    elif known:
        head = ("key", "name", "rights", "access", "state", "last used", "expires")
        rows = [
            (
                key.prefix,
                one_line(key.name),
                ", ".join(key.rights),
                one_line(_reach(key)),
                key.state(now),
                _day(key.last_used_at),
                _day(key.expires_at),
            )
            for key in known
        ]
        print_rows(console(), [head, *rows])
    else:
        told = f"Tenant {shell.tenant} has no keys: `slowwave admin keys add NAME` makes one."
        console().print(styled(told), soft_wrap=True)


def revoke(
    context: typer.Context,
    key: Annotated[
        str,
        typer.Argument(help="The key's beginning (sw_…) or id, as `admin keys list` shows it.", show_default=False),
    ],
    *,
    as_json: Json = False,
) -> None:
    """Revoke a key at once, also for open connections. Exit 1 if the tenant has no such key."""
    from slowwave_server.services.access.api_keys import revoke_key

    shell = shell_of(context)
    with shell.connection() as connection:
        gone = revoke_key(connection, shell.tenant, key, now=shell.now())
        if gone is not None:
            _note(shell, connection, gone, "was revoked")
        connection.commit()
    if as_json:
        print_json({"id": None if gone is None else gone.id, "revoked": gone is not None})
    elif gone is not None:
        console().print(styled(f"{one_line(gone.name)} ({gone.prefix}) is revoked."), soft_wrap=True)
    else:
        told = f"tenant {shell.tenant} has no such key: `slowwave admin keys list` lists its keys"
        console().print(styled(told), soft_wrap=True)
    if gone is None:
        raise typer.Exit(FOUND)


def _note(shell: Shell, connection: "Connection", key: "Key", what: str) -> None:
    from slowwave_server.services.access.audit_log import note_act

    told = f"key {key.name} ({key.prefix}) {what}"
    note_act(connection, "key", operator(), told, tenant=key.tenant, via="shell", now=shell.now())


def _reach(key: "Key") -> str:
    return ", ".join([*(key.agents or ["all agents"]), *key.scopes])


def _day(moment: datetime | None) -> str:
    return "never" if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def _moment(text: str | None, now: datetime) -> datetime | None:
    """Parse a time. Raises BadParameter."""
    if text is None:
        return None
    if (days := _DAYS.fullmatch(text)) is not None:
        return now + timedelta(days=int(days[1]))
    try:
        if len(text) <= len("2026-03-05"):
            day = date.fromisoformat(text)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"--expires must be days (90d), a day (2027-03-05) or a time (2027-03-05T14:30), got {text!r:.60}"
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
