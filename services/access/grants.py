"""Grant each role its `privileges` in one database, and check that the grants are complete.

Run the statements after every migration: a replaced function runs as its caller again, and no role may use a new table
yet.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from psycopg import sql
from sqlalchemy import Connection, text

from slowwave_server.services.access.bounds import bound_statements
from slowwave_server.services.access.figures import exporters, figure_statements, has_group, lacking_figures
from slowwave_server.services.access.privileges import (
    DEFINING,
    ENTRANCES,
    GROUPS,
    OWNER_ONLY,
    READ_ONLY,
    WORKER,
    may_call,
    table_privileges,
)

MEM0 = "slowwave_mem0"
APPLY_LOCK = 7_305_118_240_002

_TABLES = text(
    "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'slowwave'::regnamespace AND c.relkind IN ('r', 'p', 'v')"
    " AND NOT c.relispartition ORDER BY c.relname"
)
_FUNCTIONS = text(
    "SELECT p.proname, p.oid::regprocedure::text, p.prosecdef, p.prorettype = 'trigger'::regtype"
    " FROM pg_proc p WHERE p.pronamespace = 'slowwave'::regnamespace ORDER BY 2"
)
_NO_GROUPS = text(
    "SELECT g FROM unnest(CAST(:groups AS text[])) AS g"
    " WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = g) ORDER BY g"
)
_IS_OWNER = text("SELECT pg_has_role(session_user, nspowner, 'MEMBER') FROM pg_namespace WHERE nspname = 'slowwave'")
_UNREADABLE = text(
    "SELECT t FROM unnest(CAST(:tables AS text[])) AS t"
    " WHERE NOT has_table_privilege(:worker, format('slowwave.%I', t), 'SELECT') ORDER BY t"
)
_UNCALLABLE = text(
    "SELECT f FROM unnest(CAST(:functions AS text[])) AS f WHERE NOT has_function_privilege(:worker, f, 'EXECUTE')"
)
_VECTOR = text(
    "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
)


@dataclass(frozen=True, slots=True)
class Routine:
    """A function of the schema. signature: the signature as Postgres writes it, including schema and types."""

    name: str
    signature: str
    as_owner: bool
    is_trigger: bool


def tables(connection: Connection) -> list[str]:
    """List all tables of the schema. A partition is covered by its table."""
    return list(connection.execute(_TABLES).scalars())


def routines(connection: Connection) -> list[Routine]:
    """List all functions of the schema."""
    return [Routine(*row) for row in connection.execute(_FUNCTIONS)]


def in_use(connection: Connection) -> bool:
    """Return True if a login other than the owner's may use this database; always True for other logins."""
    if not connection.execute(_IS_OWNER).scalar_one():
        return True
    registered = connection.execute(text("SELECT EXISTS (SELECT FROM slowwave.logins)")).scalar_one()
    # A login that enters as an exporter by everybody's right to connect is not registered here.
    return bool(registered) or (not as_caller(connection) and bool(exporters(connection)))


def as_caller(connection: Connection) -> list[str]:
    """List entry functions that run as their caller, so that only the owner can use them; [] if there are none."""
    return [found.name for found in routines(connection) if found.name in ENTRANCES and not found.as_owner]


def lacking(connection: Connection) -> list[str]:
    """List groups, entry functions, tables and functions whose grants are missing because they were made after the last
    grant.

    The function checks only the worker's privileges, because one command grants those of all roles. Any login may call
    it.
    """
    if missing := _missing_groups(connection):
        return missing
    wanted = [table for table in tables(connection) if table_privileges("worker", table)]
    callable_by = [
        found.signature for found in routines(connection) if may_call("worker", found.name) and not found.is_trigger
    ]
    unreadable = connection.execute(_UNREADABLE, {"tables": wanted, "worker": WORKER}).scalars()
    uncallable = connection.execute(_UNCALLABLE, {"functions": callable_by, "worker": WORKER}).scalars()
    names = (signature.split("(")[0].removeprefix("slowwave.") for signature in uncallable)
    return sorted({*as_caller(connection), *unreadable, *names, *lacking_figures(connection)})


def apply_grants(connection: Connection) -> None:
    """Run all statements in the transaction of `connection`. Raises DBAPIError if this login lacks the right."""
    # Two at once would write the same rows of the catalogue, and Postgres would refuse the second.
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": APPLY_LOCK})
    for statement in statements(connection):
        connection.exec_driver_sql(statement.replace("%", "%%"))


def statements(connection: Connection) -> list[str]:
    """Return all statements in order. Each may be run again; together they revoke every other privilege."""
    found, functions = tables(connection), routines(connection)
    database: str = connection.execute(text("SELECT current_database()")).scalar_one()
    vector: str | None = connection.execute(_VECTOR).scalar_one_or_none()
    mem0 = connection.execute(text("SELECT to_regnamespace(:name) IS NOT NULL"), {"name": MEM0}).scalar_one()
    return [
        *map(_group, _missing_groups(connection)),
        *_nothing(database),
        *_on_tables(found),
        *_on_functions(functions, vector),
        *_worker_policies(found),
        *([] if not mem0 else _on_mem0()),
        *([] if not has_group(connection) else figure_statements()),
        *bound_statements(connection),
    ]


def _missing_groups(connection: Connection) -> list[str]:
    return list(connection.execute(_NO_GROUPS, {"groups": list(GROUPS.values())}).scalars())


def _group(name: str) -> str:
    # CREATE ROLE has no IF NOT EXISTS, and two commands may try at once.
    return (
        f"DO $$ BEGIN CREATE ROLE {name} NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
    )


def _nothing(database: str) -> Iterator[str]:
    """Return statements that revoke everybody's default privileges, and all earlier grants."""
    everybody = ", ".join(("PUBLIC", *GROUPS.values()))
    yield f"REVOKE ALL ON SCHEMA slowwave FROM {everybody}"
    yield f"REVOKE ALL ON ALL TABLES IN SCHEMA slowwave FROM {everybody}"
    yield f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA slowwave FROM {everybody}"
    yield f"GRANT USAGE ON SCHEMA slowwave TO {', '.join(GROUPS.values())}"
    # Groups belong to the whole server, so each login needs a grant for the database that it may enter.
    yield _sql("REVOKE CONNECT, TEMPORARY ON DATABASE {} FROM PUBLIC", sql.Identifier(database))
    yield _sql("GRANT TEMPORARY ON DATABASE {} TO {}", sql.Identifier(database), sql.Identifier(WORKER))


def _on_tables(found: list[str]) -> Iterator[str]:
    for table in found:
        for role, group in GROUPS.items():
            privileges = table_privileges(role, table)
            if privileges:
                yield _sql(f"GRANT {privileges} ON slowwave.{{}} TO {group}", sql.Identifier(table))


def _on_functions(functions: list[Routine], vector: str | None) -> Iterator[str]:
    path = sql.SQL(", ").join(map(sql.Identifier, filter(None, ("pg_catalog", vector, "pg_temp"))))
    for function in functions:
        if function.name in ENTRANCES or function.name in DEFINING:
            # A search path that callers can't choose: a function that runs as the owner must not find objects that
            # callers made.
            yield _sql(f"ALTER FUNCTION {function.signature} SECURITY DEFINER SET search_path = {{}}", path)
        callers = [group for role, group in GROUPS.items() if may_call(role, function.name)]
        if callers and not function.is_trigger:
            yield f"GRANT EXECUTE ON FUNCTION {function.signature} TO {', '.join(callers)}"


def _worker_policies(found: list[str]) -> Iterator[str]:
    """Return always true policies: the planner drops them, so workers get the same plans as the owner."""
    for table in found:
        if table not in OWNER_ONLY | READ_ONLY:
            # Check first, because creating a policy locks the table, and it nearly always exists.
            yield (
                "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_policy p WHERE p.polname = 'workers'"
                f" AND p.polrelid = 'slowwave.{table}'::regclass) THEN"
                f" CREATE POLICY workers ON slowwave.{table} TO {WORKER} USING (true) WITH CHECK (true);"
                " END IF; END $$"
            )


def _on_mem0() -> Iterator[str]:
    yield f"GRANT USAGE ON SCHEMA {MEM0} TO {WORKER}"
    yield f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {MEM0} TO {WORKER}"


def _sql(template: str, *parts: sql.Composable) -> str:
    return sql.SQL(template).format(*parts).as_string(None)
