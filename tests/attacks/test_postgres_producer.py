"""A producer's login of Postgres is in the wrong hands: it may do its tenant's part, and stop nobody else.

Each attack uses the driver alone, as a stranger's program would. The work of the others runs through the services.
"""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege, OperationalError
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

from slowwave.settings import Settings
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.services.access.bounds import CONNECTIONS, lacking_bounds
from slowwave_server.services.access.figures import EXPORTER
from slowwave_server.services.access.grants import apply_grants
from slowwave_server.services.access.logins import add_login
from slowwave_server.services.access.privileges import GROUPS
from slowwave_server.services.consolidation.scope_lock import scope_lock
from slowwave_server.services.memory_files.locks import file_lock
from slowwave_server.workers.shared.failures import explain_failure
from slowwave_server.workers.shared.shell import Shell
from tests.support.roles import Deployment, deployed

pytestmark = pytest.mark.servers

SCOPE = 7
CAPTURE = """
SELECT added, problem FROM slowwave.capture_session(%(tenant)s, 'agent', 'talk',
    jsonb_build_array(jsonb_build_object('key', gen_random_uuid(), 'kind', 'user', 'step', 1, 'content', 'A word.')),
    NULL, NULL, 300, 600, 20, 'UTC', 4)
"""
LOCKED = "hashtextextended('slowwave.consolidate 7', 0)"
TAKING = [
    f"SELECT pg_advisory_lock({LOCKED})",
    f"SELECT pg_advisory_lock_shared({LOCKED})",
    f"SELECT pg_try_advisory_lock({LOCKED})",
    f"SELECT pg_try_advisory_lock_shared({LOCKED})",
    f"SELECT pg_advisory_xact_lock({LOCKED})",
    f"SELECT pg_advisory_xact_lock_shared({LOCKED})",
    f"SELECT pg_try_advisory_xact_lock({LOCKED})",
    f"SELECT pg_try_advisory_xact_lock_shared({LOCKED})",
    "SELECT pg_advisory_lock(1, 2)",
    "SELECT pg_try_advisory_xact_lock_shared(1, 2)",
]
FILLING = ["SELECT lo_create(0)", "SELECT lo_creat(-1)", "SELECT lo_from_bytea(0, 'filling the disk')"]
CHANGING = [
    "CREATE TEMPORARY TABLE mine (n integer)",
    "CREATE TABLE public.mine (n integer)",
    "CREATE TABLE slowwave.mine (n integer)",
    "CREATE FUNCTION public.mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
    "CREATE SCHEMA mine",
    "DO $$ BEGIN LOCK TABLE slowwave.memories IN EXCLUSIVE MODE; END $$",
    "DO $$ BEGIN LOCK TABLE slowwave.logins IN ACCESS SHARE MODE; END $$",
    "SELECT id FROM slowwave.memories FOR SHARE",
    "SELECT id FROM slowwave.sessions FOR UPDATE",
    "SET temp_file_limit = -1",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "SELECT pg_read_file('PG_VERSION')",
    "ALTER SYSTEM SET max_connections = 1",
]


@pytest.fixture(scope="module")
def deployment(postgres_url: str, template_database: str) -> Iterator[Deployment]:
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template_database} STRATEGY wal_log")
        with deployed(postgres_url.replace("/postgres?", f"/{name}?")) as deployment:
            yield deployment
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize("statement", TAKING + FILLING + CHANGING)
def test_a_producer_may_not(deployment: Deployment, statement: str) -> None:
    with pytest.raises(InsufficientPrivilege):
        deployment.ask("acme app", statement)


def test_workers_and_consoles_still_take_their_locks(deployment: Deployment) -> None:
    for part in ("worker", "acme desk"):
        with scope_lock(deployment.engine(part), SCOPE) as ours, file_lock(deployment.engine(part), SCOPE):
            assert ours


def test_a_producer_cannot_take_all_connections(deployment: Deployment) -> None:
    with ExitStack() as held:
        for _ in range(CONNECTIONS["producer"]):
            held.enter_context(psycopg.connect(deployment.url_of("acme app")))
        with pytest.raises(OperationalError, match="too many connections for role"):
            psycopg.connect(deployment.url_of("acme app"))
        for part in ("globex app", "acme desk", "worker", "owner"):
            assert deployment.ask(part, "SELECT 1") == [(1,)]


def test_a_held_capture_stops_no_other_tenant(deployment: Deployment) -> None:
    with psycopg.connect(deployment.url_of("acme app")) as attacker:
        attacker.execute(CAPTURE, {"tenant": "acme"})
        with psycopg.connect(deployment.url_of("globex app"), options="-c lock_timeout=2s") as other:
            added = other.execute(CAPTURE, {"tenant": "globex"}).fetchall()
    assert added == [(1, None)]


def test_waiting_for_a_held_row_ends_in_a_sentence(deployment: Deployment) -> None:
    """A caller that waits for a transaction which stays open gets an error soon, and not after minutes."""
    engine = make_engine(deployment.url, lock_timeout_ms=50)
    with psycopg.connect(deployment.url_of("acme app")) as earlier:
        earlier.execute(CAPTURE, {"tenant": "acme"})
    with psycopg.connect(deployment.url_of("acme app")) as attacker:
        attacker.execute(CAPTURE, {"tenant": "acme"})
        shell = Shell()
        shell.settings = Settings(database_url=deployment.url)
        with engine.connect() as connection, pytest.raises(DBAPIError) as caught:
            connection.execute(text("SELECT id FROM slowwave.sessions FOR UPDATE"))
    engine.dispose()
    explained = explain_failure(caught.value, shell)
    assert explained is not None
    code, sentence, cure = explained
    assert (code, "another transaction holds a lock" in sentence) == (3, True)
    assert cure is not None
    assert "pg_stat_activity" in cure


def test_applying_roles_bounds_an_older_installation(deployment: Deployment) -> None:
    login = deployment.logins["acme app"]
    with deployment.owner.begin() as connection:
        connection.exec_driver_sql(f"ALTER ROLE {login} CONNECTION LIMIT -1")
        connection.exec_driver_sql("GRANT EXECUTE ON FUNCTION pg_catalog.pg_advisory_lock(bigint) TO PUBLIC")
        connection.exec_driver_sql("GRANT EXECUTE ON FUNCTION pg_catalog.lo_create(oid) TO PUBLIC")
        assert lacking_bounds(connection) == [
            f"login {login!r} has no connection limit",
            "producers may hold the advisory locks that forgetting and consolidation wait for",
            "producers may create large objects",
        ]
    with deployment.owner.begin() as connection:
        apply_grants(connection)
        assert lacking_bounds(connection) == []


def test_a_limit_that_somebody_set_stays(deployment: Deployment) -> None:
    login = deployment.logins["globex app"]
    limit = text("SELECT rolconnlimit FROM pg_roles WHERE rolname = :login")
    with deployment.owner.begin() as connection:
        add_login(connection, login, "producer", "globex", connections=70)
        apply_grants(connection)
        add_login(connection, login, "producer", "globex")
        assert connection.execute(limit, {"login": login}).scalar_one() == 70


def test_an_owner_who_is_no_superuser_limits_connections(postgres_url: str) -> None:
    """As at a managed Postgres: logins get their limit, and the doctor goes on to name the functions."""
    owner, login, foreign = (f"{name}_{uuid.uuid4().hex[:8]}" for name in ("owner", "app", "foreign"))
    url = postgres_url.replace("/postgres?", f"/{owner}?")
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"CREATE ROLE {owner} LOGIN CREATEROLE")
        for group in (*GROUPS.values(), EXPORTER):
            create = f"CREATE ROLE {group} NOLOGIN"
            server.execute(f"DO $$ BEGIN {create}; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        for group in GROUPS.values():
            server.execute(f"GRANT {group} TO {owner} WITH ADMIN TRUE, INHERIT FALSE, SET FALSE")
        server.execute(f"CREATE DATABASE {owner} OWNER {owner}")
        server.execute(f"CREATE ROLE {foreign} LOGIN")
    engine = make_engine(make_url(url).set(username=owner).render_as_string(hide_password=False))
    try:
        migrate(engine)
        with engine.begin() as connection:
            apply_grants(connection)
            add_login(connection, login, "producer", "acme")
            connection.exec_driver_sql(f"ALTER ROLE {login} CONNECTION LIMIT -1")
            apply_grants(connection)
            rights = [
                "producers may hold the advisory locks that forgetting and consolidation wait for",
                "producers may create large objects",
            ]
            assert lacking_bounds(connection) == rights
            assert not add_login(connection, foreign, "producer", "acme"), "an administrator made it"
            assert lacking_bounds(connection) == [f"login {foreign!r} has no connection limit", *rights]
    finally:
        engine.dispose()
        with psycopg.connect(postgres_url, autocommit=True) as server:
            server.execute(f"DROP DATABASE {owner} WITH (FORCE)")
            server.execute(f"DROP ROLE IF EXISTS {login}")
            server.execute(f"DROP ROLE IF EXISTS {foreign}")
            server.execute(f"DROP OWNED BY {owner} CASCADE")
            server.execute(f"DROP ROLE {owner}")
