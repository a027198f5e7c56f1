"""Make, register and list logins of Postgres; only the owner, or a login that may become it and make roles, can."""

from dataclasses import dataclass
from typing import Literal, get_args

from psycopg import sql
from sqlalchemy import Connection, Row, delete, select, text
from sqlalchemy.dialects.postgresql import insert

from slowwave.errors import InvalidName, SlowwaveError
from slowwave.identity import check_name
from slowwave_server.models import Login
from slowwave_server.services.access.bounds import bound_login
from slowwave_server.services.access.figures import EXPORTER, exporters, figure_statements, has_group
from slowwave_server.services.access.grants import as_caller
from slowwave_server.services.access.privileges import GROUPS

Role = Literal["producer", "console", "worker", "gateway", "exporter"]
EVERY_TENANTS = frozenset({"worker", "gateway", "exporter"})
"""Roles of no single tenant. A gateway acts for the tenant of the API key that a request comes with."""
LONGEST = 63
"""Postgres cuts longer names off, and two of them could become one."""

_ROLE = text(
    "SELECT rolsuper, rolbypassrls, rolcanlogin, pg_has_role(oid, (SELECT nspowner FROM pg_namespace"
    " WHERE nspname = 'slowwave'), 'MEMBER') AS as_owner FROM pg_roles WHERE rolname = :login"
)


_MEMBERSHIPS = text(
    "SELECT g.rolname FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid JOIN pg_roles r ON r.oid = m.member"
    " WHERE r.rolname = :login AND g.rolname = ANY (:groups) ORDER BY 1"
)


class LoginRefused(SlowwaveError):
    """The login can't get this role; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class KnownLogin:
    """One login. exists: True if the server has it; a copied database may name logins of another server."""

    login: str
    role: str
    tenant: str | None
    exists: bool


def add_login(
    connection: Connection,
    login: str,
    role: Role,
    tenant: str | None,
    *,
    verifier: str | None = None,
    connections: int | None = None,
) -> bool:
    """Register a login, and create it if the server does not have it. Return True if it was created.

    verifier: its password as the server stores it (SCRAM-SHA-256), so that no statement contains the password; None for
    a login that exists, or that authenticates in another way. connections: the highest number of connections at once;
    None sets the limit of its role (`bounds.CONNECTIONS`) if the login has none. Runs in the transaction of
    `connection`. Raises LoginRefused, InvalidName, and DBAPIError if the current login lacks the right.
    """
    _check(login, role, tenant)
    if as_caller(connection):
        # Groups belong to the whole server, so their existence tells nothing about this database.
        raise LoginRefused("only the owner can connect here yet: run `slowwave admin roles apply` first")
    found = connection.execute(_ROLE, {"login": login}).mappings().first()
    if found is None:
        password = sql.SQL("") if verifier is None else sql.SQL(" PASSWORD {}").format(sql.Literal(verifier))
        _run(connection, sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS{}"), sql.Identifier(login), password)
    elif found["rolsuper"] or found["rolbypassrls"] or found["as_owner"]:
        raise LoginRefused(
            f"{login} owns the tables or passes all policies: so no policy would limit it. Make another login"
        )
    elif verifier is not None:
        _run(connection, sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}"), sql.Identifier(login), sql.Literal(verifier))
    if role == "exporter":
        _prepare_exporter(connection, login)
    else:
        _register(connection, login, role, tenant)
    _join(connection, login, EXPORTER if role == "exporter" else GROUPS[role], made=found is None)
    bound_login(connection, login, role, connections)
    return found is None


def remove_login(connection: Connection, login: str) -> bool:
    """Revoke all rights of a login in this database, and keep the role itself. Return False if it is not registered.

    Its open connections continue until they end, but see no data any more.
    """
    gone = connection.execute(delete(Login).where(Login.login == login)).rowcount or login in exporters(connection)
    if gone and connection.execute(_ROLE, {"login": login}).first() is not None:
        database = connection.execute(text("SELECT current_database()")).scalar_one()
        for group in _groups_of(connection, login):
            _run(connection, sql.SQL("REVOKE {} FROM {}"), sql.Identifier(group), sql.Identifier(login))
        template = sql.SQL("REVOKE CONNECT ON DATABASE {} FROM {}")
        _run(connection, template, sql.Identifier(database), sql.Identifier(login))
    return bool(gone)


def known_logins(connection: Connection) -> list[KnownLogin]:
    """List all logins, sorted by role and name."""
    exists = text("EXISTS (SELECT FROM pg_roles r WHERE r.rolname = logins.login) AS is_there")
    rows = connection.execute(select(Login.login, Login.role, Login.tenant, exists).order_by(Login.role, Login.login))
    return [*(KnownLogin(login, "exporter", None, exists=True) for login in exporters(connection)), *map(_known, rows)]


def _known(row: Row[str, str, str | None, bool]) -> KnownLogin:
    return KnownLogin(*row)


def _check(login: str, role: str, tenant: str | None) -> None:
    if role not in get_args(Role):
        raise InvalidName(f"a role is one of {', '.join(get_args(Role))}, not {role!r:.60}")
    if not login or len(login.encode()) > LONGEST or not login.isprintable():
        raise InvalidName(f"a login has 1 to {LONGEST} bytes, all printable")
    if login in {*GROUPS.values(), EXPORTER}:
        raise InvalidName(f"{login} is a group, which nobody logs in as")
    if (role in EVERY_TENANTS) != (tenant is None):
        raise InvalidName(
            "a worker, a gateway and an exporter serve all tenants; a producer and a console belong to one"
        )
    if tenant is not None:
        check_name("tenant", tenant)


def _prepare_exporter(connection: Connection, login: str) -> None:
    """Create the group with its grants. Raises LoginRefused for a login that has another role here."""
    known = connection.execute(select(Login.role).where(Login.login == login)).scalar_one_or_none()
    if known is not None:
        raise LoginRefused(f"{login} is a {known} already: remove it first, or choose another name")
    if not has_group(connection):
        _run(connection, sql.SQL("CREATE ROLE {} NOLOGIN"), sql.Identifier(EXPORTER))
    for statement in figure_statements():
        connection.exec_driver_sql(statement)


def _join(connection: Connection, login: str, group: str, *, made: bool) -> None:
    """Add the login to this group and to no other, and let it connect to this database."""
    who = sql.Identifier(login)
    for other in [] if made else _groups_of(connection, login):
        if other != group:
            _run(connection, sql.SQL("REVOKE {} FROM {}"), sql.Identifier(other), who)
    _run(connection, sql.SQL("GRANT {} TO {}"), sql.Identifier(group), who)
    database = connection.execute(text("SELECT current_database()")).scalar_one()
    _run(connection, sql.SQL("GRANT CONNECT ON DATABASE {} TO {}"), sql.Identifier(database), who)


def _groups_of(connection: Connection, login: str) -> list[str]:
    """Return Slowwave's groups that contain a login. An owner without superuser rights may control no others."""
    return list(connection.execute(_MEMBERSHIPS, {"login": login, "groups": [*GROUPS.values(), EXPORTER]}).scalars())


def _register(connection: Connection, login: str, role: str, tenant: str | None) -> None:
    values = {"login": login, "role": role, "tenant": tenant}
    connection.execute(insert(Login).values(values).on_conflict_do_nothing())
    known = connection.execute(select(Login.role, Login.tenant).where(Login.login == login)).one()
    if tuple(known) != (role, tenant):
        whose = "all tenants" if known.tenant is None else f"tenant {known.tenant!r}"
        raise LoginRefused(f"{login} is a {known.role} of {whose} already: remove it first, or choose another name")


def _run(connection: Connection, template: sql.SQL, *parts: sql.Composable) -> None:
    connection.exec_driver_sql(template.format(*parts).as_string(None).replace("%", "%%"))
