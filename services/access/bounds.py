"""Limit the resources of the server that a login of an agent's host may use, so that one login can't block all others.

A producer and a gateway open a limited number of connections and fill no disk with temporary files. A producer takes no
advisory lock and creates no large object. By default, Postgres lets everybody use the functions of advisory locks and
large objects, and only a superuser can revoke them. Without a superuser only the connection limit is set, and the
doctor lists the missing limits. The owner of an embedded Postgres is not a superuser; the stack revokes the functions
from everybody and grants them to the owner.
"""

from collections.abc import Iterator, Mapping

from psycopg import sql
from sqlalchemy import Connection, text

from slowwave_server.services.access.figures import exporters, has_group
from slowwave_server.services.access.privileges import CONSOLE, GATEWAY, PRODUCER, WORKER

CONNECTIONS: Mapping[str, int] = {"producer": 32, "exporter": 8, "gateway": 64}
"""Connections that a new login of a role may open at once: a process of a producer opens up to 8, one of a gateway
up to 16."""
TEMPORARY_FILES = "1GB"

# Session locks and transaction locks. Functions that release a lock are harmless for a login that holds none.
_LOCKS = "p.proname ~ '^pg_(try_)?advisory_(xact_)?lock(_shared)?$'"
_LARGE_OBJECTS = "p.proname IN ('lo_creat', 'lo_create', 'lo_from_bytea')"
_OURS = "p.pronamespace = 'pg_catalog'::regnamespace"

_TAKE_BACK = f"""DO $$ DECLARE f record; BEGIN
FOR f IN SELECT p.oid::regprocedure AS signature, {_LOCKS} AS is_lock FROM pg_proc p
    WHERE {_OURS} AND ({_LOCKS} OR {_LARGE_OBJECTS}) LOOP
    IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        EXECUTE format('REVOKE EXECUTE ON FUNCTION pg_catalog.%s FROM PUBLIC', f.signature);
        IF f.is_lock THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION pg_catalog.%s TO %I', f.signature,
                (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'slowwave'));
        END IF;
    END IF;
    IF f.is_lock AND has_function_privilege(f.signature::text, 'EXECUTE WITH GRANT OPTION') THEN
        EXECUTE format('GRANT EXECUTE ON FUNCTION pg_catalog.%s TO {WORKER}, {CONSOLE}, {GATEWAY}', f.signature);
    END IF;
END LOOP; END $$"""
_LEND = f"""DO $$ DECLARE f record; BEGIN
FOR f IN SELECT p.oid::regprocedure AS signature, {_LOCKS} AS is_lock FROM pg_proc p
    WHERE {_OURS} AND ({_LOCKS} OR {_LARGE_OBJECTS}) LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION pg_catalog.%s FROM PUBLIC', f.signature);
    IF f.is_lock THEN
        EXECUTE format('GRANT EXECUTE ON FUNCTION pg_catalog.%s TO %I WITH GRANT OPTION', f.signature, '%OWNER%');
    END IF;
END LOOP; END $$"""
_BOUNDED = text(
    "SELECT r.rolname, r.rolconnlimit, l.role FROM slowwave.logins l JOIN pg_roles r ON r.rolname = l.login"
    " WHERE l.role IN ('producer', 'gateway') ORDER BY 1"
)
_LIMITS = text("SELECT rolname, rolconnlimit FROM pg_roles WHERE rolname = ANY (:logins) ORDER BY 1")
_CALLABLE = text(
    "SELECT p.proname FROM pg_proc p WHERE " + _OURS + " AND (" + _LOCKS + " OR " + _LARGE_OBJECTS + ")"
    " AND has_function_privilege(:group, p.oid, 'EXECUTE') ORDER BY 1"
)


def bound_statements(connection: Connection) -> Iterator[str]:
    """Return statements that limit logins of agents' hosts and exporters. Each may be run again; an existing limit
    stays. A login that the current login may not change keeps its state, and the doctor names it.
    """
    yield _TAKE_BACK
    for login, role in _unlimited(connection).items():
        yield _attempt(_limit(login, CONNECTIONS[role]))
        yield _attempt(_temporary_files(login))


def lend_statements(owner: str) -> Iterator[str]:
    """Return grants that a superuser runs, so that another owner can limit logins by itself, in one database."""
    yield _LEND.replace("'%OWNER%'", sql.Literal(owner).as_string(None))
    yield _sql("GRANT SET ON PARAMETER temp_file_limit TO {}", owner)


def bound_login(connection: Connection, login: str, role: str, connections: int | None) -> None:
    """Limit a login that was added.

    connections: the highest number of connections. None keeps an existing limit, or sets the limit of the login's role
    if the current login may do so; it may lack the right for a login that an administrator made. Raises DBAPIError if a
    limit is given and the current login may not set it.
    """
    statements = [] if connections is None else [_limit(login, connections)]
    if role in CONNECTIONS:
        is_unlimited = connection.execute(_LIMITS, {"logins": [login]}).one().rolconnlimit < 0
        if connections is None and is_unlimited:
            statements.append(_attempt(_limit(login, CONNECTIONS[role])))
        statements.append(_attempt(_temporary_files(login)))
    for statement in statements:
        connection.exec_driver_sql(statement.replace("%", "%%"))


def lacking_bounds(connection: Connection) -> list[str]:
    """Return, in words, what logins of agents' hosts may use without a limit. Any login may call this."""
    found = [f"login {login!r} has no connection limit" for login in _unlimited(connection)]
    functions = set(connection.execute(_CALLABLE, {"group": PRODUCER}).scalars())
    if any("advisory" in name for name in functions):
        found.append("producers may hold the advisory locks that forgetting and consolidation wait for")
    if any(name.startswith("lo_") for name in functions):
        found.append("producers may create large objects")
    return found


def _unlimited(connection: Connection) -> dict[str, str]:
    """Return logins without a connection limit, with their roles. A login that is not the owner sees only exporters."""
    may_read = connection.execute(text("SELECT has_table_privilege('slowwave.logins', 'SELECT')")).scalar_one()
    found = {login: role for login, limit, role in connection.execute(_BOUNDED) if limit < 0} if may_read else {}
    if has_group(connection):
        rows = connection.execute(_LIMITS, {"logins": exporters(connection)})
        found |= {login: "exporter" for login, limit in rows if limit < 0}
    return found


def _limit(login: str, connections: int) -> str:
    return _sql(f"ALTER ROLE {{}} CONNECTION LIMIT {connections:d}", login)


def _temporary_files(login: str) -> str:
    return _sql(f"ALTER ROLE {{}} SET temp_file_limit = '{TEMPORARY_FILES}'", login)


def _attempt(statement: str) -> str:
    quoted = sql.Literal(statement).as_string(None)
    return f"DO $$ BEGIN EXECUTE {quoted}; EXCEPTION WHEN insufficient_privilege THEN NULL; END $$"


def _sql(template: str, login: str) -> str:
    return sql.SQL(template).format(sql.Identifier(login)).as_string(None)
