"""`slowwave admin users`: people who may use the console."""

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from slowwave_server.workers.cli.options import Json
from slowwave_server.workers.cli.output import console, print_json, print_rows, styled
from slowwave_server.workers.cli.state import operator, shell_of
from slowwave_server.workers.shared.failures import FOUND
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

Name = Annotated[str, typer.Argument(help="The login name of the person.", show_default=False, metavar="NAME")]
PasswordStdin = Annotated[bool, typer.Option("--password-stdin", help="Read the password from stdin.")]


def add(
    context: typer.Context,
    name: Name,
    *,
    role: Annotated[
        Literal["viewer", "curator", "operator"],
        typer.Option(
            help="viewer: reads; curator: also answers the inbox; operator: also undoes, forgets and runs jobs.",
            prompt=True,
        ),
    ],
    sees: Annotated[
        list[str] | None,
        typer.Option(
            "--sees", metavar="NAME", help="A tenant that the person may see; may be repeated; default: --tenant."
        ),
    ] = None,
    sees_all: Annotated[
        bool, typer.Option("--sees-all", help="The person may see all tenants and the whole installation.")
    ] = False,
    password_stdin: PasswordStdin = False,
    as_json: Json = False,
) -> None:
    """Add a person. Asks for a password."""
    from slowwave_server.domain.console_roles import EVERY_TENANT
    from slowwave_server.services.access.console_users import Passwords, add_user

    if sees and sees_all:
        raise typer.BadParameter("give --sees or --sees-all, one of the two")
    shell = shell_of(context)
    tenants = [EVERY_TENANT] if sees_all else sees or [shell.tenant]
    with shell.connection() as connection:
        password = _password(password_stdin=password_stdin)
        add_user(connection, name, role, tenants, password, passwords=Passwords())
        _note(shell, connection, f"{name} was added as {role}", tenants)
        connection.commit()
    if as_json:
        print_json({"name": name, "role": role, "tenants": tenants})
        return
    whose = "all tenants" if sees_all else f"tenant {', '.join(tenants)}"
    console().print(styled(f"{name} may log in as {role} and sees {whose}."), soft_wrap=True)


def remove(context: typer.Context, name: Name, *, as_json: Json = False) -> None:
    """Remove a person and end their logins. Their decisions keep the name. Exit 1 if the person does not exist."""
    from slowwave_server.services.access.console_users import find_user, remove_user

    shell = shell_of(context)
    with shell.connection() as connection:
        user = find_user(connection, name)
        gone = remove_user(connection, name)
        if user is not None:
            _note(shell, connection, f"{name}, a {user.role}, was removed", user.tenants)
        connection.commit()
    _told(name, "removed", gone, f"{name} can't log in any more.", as_json=as_json)


def password(
    context: typer.Context, name: Name, *, password_stdin: PasswordStdin = False, as_json: Json = False
) -> None:
    """Change the password of a person and end their logins. Exit 1 if the person does not exist."""
    from slowwave_server.services.access.console_users import Passwords, find_user, set_password

    shell = shell_of(context)
    with shell.connection() as connection:
        wanted = _password(password_stdin=password_stdin)
        found = set_password(connection, name, wanted, now=shell.now(), passwords=Passwords())
        if (user := find_user(connection, name)) is not None:
            _note(shell, connection, f"{name} was given another password", user.tenants)
        connection.commit()
    _told(name, "changed", found, f"{name} has a new password; all their logins have ended.", as_json=as_json)


def list_users(context: typer.Context, *, as_json: Json = False) -> None:
    """List the people who may use the console."""
    from slowwave_server.domain.console_roles import EVERY_TENANT
    from slowwave_server.services.access.console_users import known_users

    shell = shell_of(context)
    with shell.connection() as connection:
        known = known_users(connection, shell.now())
    if as_json:
        print_json(known)
    elif known:
        rows = [
            (
                user.name,
                user.role,
                "(all)" if user.tenants == (EVERY_TENANT,) else ", ".join(user.tenants),
                f"{user.changed_at:%Y-%m-%d}",
                "logged in" if user.logged_in else "",
            )
            for user in known
        ]
        print_rows(console(), [("name", "role", "tenants", "password of", ""), *rows])
    else:
        console().print(
            "Nobody may use the console yet: `slowwave admin users add NAME` adds a person.", soft_wrap=True
        )


def _note(shell: Shell, connection: "Connection", what: str, tenants: "Sequence[str]") -> None:
    """Write a row of the audit log per tenant of the person; a row without tenant if the person sees all tenants."""
    from slowwave_server.domain.console_roles import EVERY_TENANT
    from slowwave_server.services.access.audit_log import note_act

    for tenant in dict.fromkeys(tenants):
        whose = None if tenant == EVERY_TENANT else tenant
        note_act(connection, "role", operator(), what, tenant=whose, via="shell", now=shell.now())


def _password(*, password_stdin: bool) -> str:
    if password_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    asked: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return asked


def _told(name: str, what: str, done: bool, sentence: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"name": name, what: done})
    else:
        missing = f"there is no user {name}: `slowwave admin users list` lists the users"
        console().print(styled(sentence if done else missing), soft_wrap=True)
    if not done:
        raise typer.Exit(FOUND)
