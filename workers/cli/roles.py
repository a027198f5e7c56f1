"""`slowwave admin roles`: logins of Postgres and users of Redis with the rights that their part needs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from slowwave_server.workers.cli.options import Json
from slowwave_server.workers.cli.output import console, print_json, print_rows, styled
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import FOUND, UNAVAILABLE
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from sqlalchemy import Connection

NEEDED = (
    "run it as the owner: a login that owns the tables and has CREATEROLE, with ADMIN OPTION on the groups slowwave_*;"
    " or give an administrator the SQL that `slowwave admin roles apply --print` prints"
)
Login = Annotated[str, typer.Argument(help="The login's name in Postgres.", show_default=False, metavar="LOGIN")]


NoPassword = Annotated[
    bool, typer.Option("--no-password", help="Set no password: the login exists, or authenticates in another way.")
]
PasswordStdin = Annotated[bool, typer.Option("--password-stdin", help="Read the password from stdin.")]
Connections = Annotated[
    int | None,
    typer.Option(
        min=1, max=10_000, help="The connection limit; default: 32 for a producer, 64 for a gateway, 8 for an exporter."
    ),
]


def apply(
    context: typer.Context,
    *,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the SQL for an administrator instead of running it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Grant each role its rights and revoke all others. Needs the owner of the tables; `admin migrate` repeats it."""
    from slowwave_server.services.access.grants import apply_grants, statements

    with shell_of(context).connection() as connection, _for_owners():
        if only_print:
            wanted = statements(connection)
        else:
            apply_grants(connection)
            connection.commit()
    if as_json:
        print_json({"applied": not only_print} | ({"statements": wanted} if only_print else {}))
    elif only_print:
        sys.stdout.write("BEGIN;\n" + "".join(f"{statement};\n" for statement in wanted) + "COMMIT;\n")
    else:
        told = "Each role has its rights in this database, and no others. `slowwave admin roles add` makes logins."
        console().print(told, soft_wrap=True)


def add(
    context: typer.Context,
    login: Login,
    role: Annotated[
        Literal["producer", "console", "worker", "gateway", "exporter"],
        typer.Option(
            help="producer: records and reads; console: reads and decides; worker: processes all tenants; gateway:"
            " serves HTTP, each API key for its tenant; exporter: reads metrics.",
            prompt=True,
        ),
    ],
    *,
    no_password: NoPassword = False,
    password_stdin: PasswordStdin = False,
    connections: Connections = None,
    as_json: Json = False,
) -> None:
    """Make a login. A producer's or a console's login reaches only the tenant of --tenant.

    Prints a new password once.
    """
    import secrets

    from slowwave_server.services.access.logins import EVERY_TENANTS, add_login

    shell = shell_of(context)
    password = None if no_password else secrets.token_urlsafe(24)
    if password_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
    tenant = None if role in EVERY_TENANTS else shell.tenant
    with shell.connection() as connection, _for_owners():
        verifier = None if password is None else _verifier(connection, login, password)
        made = add_login(connection, login, role, tenant, verifier=verifier, connections=connections)
        connection.commit()
    shown = None if password_stdin else password
    if as_json:
        print_json({"login": login, "role": role, "tenant": tenant, "made": made, "password": shown})
        return
    article = "an" if role == "exporter" else "a"
    whose = _whose(role, "all tenants" if tenant is None else f"tenant {tenant}")
    console().print(styled(f"{login} is {'made, ' if made else ''}{article} {role} of {whose}."), soft_wrap=True)
    if shown is not None:
        console().print(f"Its password, shown only now: {shown}", soft_wrap=True)


def remove(context: typer.Context, login: Login, *, as_json: Json = False) -> None:
    """Revoke all rights of a login; the login itself stays in Postgres. Exit 1 if it is not registered."""
    from slowwave_server.services.access.logins import remove_login

    with shell_of(context).connection() as connection, _for_owners():
        gone = remove_login(connection, login)
        connection.commit()
    if as_json:
        print_json({"login": login, "removed": gone})
    elif gone:
        told = f"{login} has no rights here any more. DROP ROLE in Postgres removes the login."
        console().print(styled(told), soft_wrap=True)
    else:
        console().print(
            styled(f"{login} is not registered: `slowwave admin roles list` lists the logins."), soft_wrap=True
        )
    if not gone:
        raise typer.Exit(FOUND)


def list_logins(context: typer.Context, *, as_json: Json = False) -> None:
    """List logins with their roles and tenants."""
    from slowwave_server.services.access.logins import known_logins

    with shell_of(context).connection() as connection, _for_owners():
        known = known_logins(connection)
    if as_json:
        print_json(known)
    elif known:
        head = ("login", "role", "tenant", "")
        rows = [
            (
                found.login,
                found.role,
                _whose(found.role, found.tenant or "(all)"),
                "" if found.exists else "not in this Postgres",
            )
            for found in known
        ]
        print_rows(console(), [head, *rows])
    else:
        console().print("There are no logins: every process uses the owner.")


def redis(
    context: typer.Context,
    part: Annotated[
        Literal["worker", "producer", "gateway", "sender", "flower", "scaler", "exporter"],
        typer.Argument(help="The part; a producer is limited to the tenant of --tenant.", show_default=False),
    ],
    *,
    name: Annotated[str | None, typer.Option(help="The name of the user; default: the name of the part.")] = None,
    as_line: Annotated[bool, typer.Option("--line", help="Print a line for an ACL file instead of a command.")] = False,
    as_json: Json = False,
) -> None:
    """Print the command that makes a user of the broker. Its new password goes to stderr, once."""
    import hashlib
    import secrets

    from slowwave_server.services.access.broker_users import broker_user

    user = broker_user(part, name or part, shell_of(context).tenant if part == "producer" else None)
    password = secrets.token_urlsafe(24)
    digest = hashlib.sha256(password.encode()).hexdigest()
    rule = user.line(digest) if as_line else user.command(digest)
    if as_json:
        print_json({"name": user.name, "rule": rule, "password": password})
        return
    sys.stdout.write(f"{rule}\n")
    sys.stderr.write(f"The password of {user.name}, shown only now: {password}\n")


def _whose(role: str, tenant: str) -> str:
    return "the tenant of a key" if role == "gateway" else tenant


@contextmanager
def _for_owners() -> Iterator[None]:
    """Turn a refusal of Postgres into the sentence that names the needed login."""
    from psycopg.errors import InsufficientPrivilege
    from sqlalchemy.exc import DBAPIError

    from slowwave_server.models.errors import first_line

    try:
        yield
    except DBAPIError as error:
        if not isinstance(error.orig, InsufficientPrivilege):
            raise
        complain(f"this login may not change roles: {first_line(error)}", NEEDED)
        raise typer.Exit(UNAVAILABLE) from None


def reapply(shell: Shell) -> bool:
    """Grant all roles their rights again after a migration. Return True if there are roles."""
    from slowwave_server.services.access.grants import apply_grants, in_use

    with shell.connection() as connection, _for_owners():
        if not in_use(connection):
            return False
        apply_grants(connection)
        connection.commit()
        return True


def _verifier(connection: "Connection", login: str, password: str) -> str:
    """Return the SCRAM verifier of a password, so that no statement, and so no log, contains the password."""
    from slowwave.errors import InvalidSettings

    if not password:
        raise InvalidSettings("the password is empty")
    driver = connection.connection.driver_connection
    if driver is None:
        raise InvalidSettings("no connection to Postgres")
    made: bytes = driver.pgconn.encrypt_password(password.encode(), login.encode(), b"scram-sha-256")
    return made.decode()
