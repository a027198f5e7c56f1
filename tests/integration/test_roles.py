"""I8 at the server itself: each role may do its part, and a login of one tenant reaches nothing of another.

Which tables and functions there are is read off the catalogue: a new one without a decision in
`services.access.privileges` fails here. The world is that of `tests/support/walls.py`, made by the login of a worker.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
from psycopg.errors import InsufficientPrivilege

from slowwave import Memory
from slowwave.errors import InvalidName, NotAllowed, NotFound, StoreUnavailable
from slowwave_server.services.access import privileges
from slowwave_server.services.access.grants import apply_grants, as_caller, routines, tables
from slowwave_server.services.access.logins import LoginRefused, add_login, known_logins, remove_login
from slowwave_server.services.forget.plan import TAKEN
from slowwave_server.services.review.decision import Decision
from slowwave_server.services.review.decisions import decide_cases
from tests.support.roles import PARTS, Deployment, deployed
from tests.support.walls import PLACES, World, open_world, settings_on, words_in

pytestmark = pytest.mark.servers

ACME = {place.word for place in PLACES if place.tenant == "acme"}
GLOBEX = {place.word for place in PLACES if place.tenant == "globex"}
SAID = "Only acme may hear of the harbour."
STRICT = frozenset({"scoped_search_vector"})
NOBODYS = frozenset({"logins", "alembic_version", "maintenance_jobs", "memory_backends", "vector_spaces"})
"""Tables without a row of any tenant."""


@dataclass
class Roles:
    """A filled world, and the deployment that it lives in."""

    world: World
    deployment: Deployment
    folder: Path

    def memory(self, part: str, tenant: str) -> Memory:
        settings = settings_on(self.deployment.url_of(part), "redis://127.0.0.1:1/0", self.folder / uuid.uuid4().hex)
        return Memory(settings.model_copy(update={"tenant": tenant}), raise_errors=True)


@pytest.fixture(scope="module")
def roles(
    postgres_url: str, template_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Roles]:
    name = f"test_{uuid.uuid4().hex[:12]}"
    folder = tmp_path_factory.mktemp("roles")
    client = redis.Redis.from_url(valkey_url)
    client.flushall()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template_database} STRATEGY wal_log")
        with deployed(postgres_url.replace("/postgres?", f"/{name}?")) as deployment:
            settings = settings_on(deployment.url_of("worker"), valkey_url, folder)
            for world in open_world(deployment.engine("worker"), settings, client, folder):
                yield Roles(world, deployment, folder)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    client.close()


def names_of(roles: Roles) -> tuple[list[str], list[Any]]:
    with roles.deployment.owner.connect() as connection:
        return tables(connection), routines(connection)


def test_every_table_and_function_has_its_decision(roles: Roles) -> None:
    found, functions = names_of(roles)
    lists = (
        set(privileges.ENTRANCES),
        set(privileges.DEFINING) | set(privileges.NOTING),
        set(privileges.ASKED) | set(privileges.CALLED),
        set(privileges.WORKERS_ALONE),
    )
    assert {function.name for function in functions} == set.union(*lists)
    assert sum(map(len, lists)) == len(set.union(*lists))
    policed = {row[0] for row in roles.deployment.ask("owner", "SELECT tablename FROM pg_policies")}
    assert policed == set(found) - privileges.OWNER_ONLY - privileges.READ_ONLY
    assert set(found) >= NOBODYS


@pytest.mark.parametrize("role", sorted(privileges.GROUPS))
def test_the_catalogue_grants_each_role_just_what_was_decided(roles: Roles, role: str) -> None:
    found, functions = names_of(roles)
    group = privileges.GROUPS[role]
    kinds = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
    granted = "SELECT t, array_agg(k) FILTER (WHERE has_table_privilege(%s, 'slowwave.' || t, k))"
    granted += " FROM unnest(%s::text[]) AS t, unnest(%s::text[]) AS k GROUP BY t"
    callable_by = "SELECT f, has_function_privilege(%s, f, 'EXECUTE') FROM unnest(%s::text[]) AS f"
    with roles.deployment.connection("owner") as connection:
        may = dict(connection.execute(granted, (group, found, list(kinds))).fetchall())
        calls = dict(connection.execute(callable_by, (group, [f.signature for f in functions])).fetchall())
    for table in found:
        wanted = privileges.table_privileges(role, table)
        assert set(may[table] or ()) == set(filter(None, wanted.split(", "))), table
    for function in functions:
        allowed = privileges.may_call(role, function.name) and not function.is_trigger
        assert calls[function.signature] == allowed, function.name


def test_what_runs_as_the_owner_finds_nothing_that_a_caller_made(roles: Roles) -> None:
    rows = roles.deployment.ask(
        "owner",
        "SELECT p.proname, s.setting FROM pg_proc p"
        " LEFT JOIN LATERAL"
        " (SELECT c AS setting FROM unnest(p.proconfig) AS c WHERE c LIKE 'search_path=%') AS s ON true"
        " WHERE p.prosecdef AND p.pronamespace = 'slowwave'::regnamespace",
    )
    as_owner = privileges.DEFINING | privileges.ASKED | privileges.NOTING
    assert {name for name, _ in rows} == set(privileges.ENTRANCES) | as_owner
    for name, setting in rows:
        assert setting.startswith("search_path=pg_catalog"), name
        assert setting.endswith("pg_temp"), name


def test_i8_rows_of_a_tenant_are_seen_by_its_console_and_by_nobody_elses(roles: Roles) -> None:
    found, _ = names_of(roles)
    filled = 0
    part = roles.deployment.connection
    with part("acme desk") as one, part("globex desk") as other, part("owner") as owner:
        for table in sorted(set(found) - NOBODYS - privileges.SECRETS):
            query = f"SELECT t.tableoid::regclass || ' ' || t.ctid FROM slowwave.{table} AS t"
            acme, globex, every = ({row[0] for row in by.execute(query)} for by in (one, other, owner))
            assert not acme & globex, table
            assert acme | globex == every, table
            filled += bool(acme and globex)
    assert filled > len(TAKEN) / 2


@pytest.mark.parametrize(("part", "own"), [("acme app", ACME), ("globex app", GLOBEX), ("globex desk", GLOBEX)])
def test_i8_mistake_39_no_statement_shows_a_word_of_another_tenant(roles: Roles, part: str, own: set[str]) -> None:
    found, _ = names_of(roles)
    words: set[str] = set()
    with roles.deployment.connection(part) as connection:
        for table in found:
            try:
                rows = connection.execute(f"SELECT t::text FROM slowwave.{table} AS t").fetchall()
            except InsufficientPrivilege:
                assert table not in privileges.PRODUCER_TABLES
                continue
            words |= words_in([list(row) for row in rows])
    assert words == own


def test_i8_a_producer_does_its_job_for_its_tenant(roles: Roles) -> None:
    with roles.memory("globex app", "globex") as memory:
        memory.turn_completed("atlas", "s8", [{"role": "user", "content": "The harbour seminar has 14 guests."}])
        memory.turn_completed("atlas", "s9", [{"role": "user", "content": "Its room has a skylight."}])
        assert "s8" in memory.prompt_arrived("atlas", "s9")
        assert memory.search("atlas", "harbour seminar")[0].content.startswith("The harbour seminar")
        text = memory.context("atlas", "s9", query="Jaskill", scopes=["room:kitchen"]).to_text()
        assert words_in([text]) == GLOBEX
        assert memory.remember("atlas", "Guests get tea.", 0.9).added
        assert memory.stats("atlas").noted > 0
        statement = "SELECT count(*) FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
        assert roles.deployment.ask("globex app", statement)[0][0] < roles.deployment.ask("owner", statement)[0][0]


def test_a_producer_reads_memories_and_hears_who_may_change_them(roles: Roles) -> None:
    with roles.memory("globex app", "globex") as memory:
        (one, *_), other = memory.memories("atlas"), roles.world.memories(PLACES[0])[0]
        assert words_in([memory.explain(one.id).memory.content]) <= GLOBEX
        assert memory.used("atlas", [one.id, other], session="s1") == 1
        assert memory.get(one.id).used == 1
        for ask in (memory.get, memory.explain):
            with pytest.raises(NotFound):
                ask(other)
        for change in (lambda: memory.archive(one.id), lambda: memory.forget(agent="atlas")):
            with pytest.raises(NotAllowed, match="use the login of a console or a worker of tenant 'globex'"):
                change()
    assert roles.deployment.ask("owner", "SELECT FROM slowwave.requests WHERE tenant = 'globex'") == []


def test_i8_a_producer_of_another_tenant_is_refused_at_every_entrance(roles: Roles) -> None:
    own, others = (roles.world.scope_id(place) for place in (PLACES[5], PLACES[0]))
    find = "(%s::bigint[], 'x', '{x}', '{1}', '{x}', 10, 1, true, 5, '{}'"
    names = "'{agent}', '{atlas}'"
    event = '[{"key": "k", "kind": "user", "step": 1, "content": "forged"}]'
    tries = {
        "capture_session": f"('acme', 'atlas', 's1', '{event}', null, null, 120, 600, 5, 'UTC', 0)",
        "capture_batch": '(\'acme\', \'[{"agent": "atlas", "session": "s1", "events": []}]\', 120, 600, 5, \'UTC\', 0)',
        "boost_sessions": "('acme', 'atlas', 'none', 5)",
        "remember": "('acme', 'atlas', 'agent', 'atlas', null, 'fact', 'forged', 1, true, 'k', 60, null, 'UTC', 0)",
        "remember_delayed": "('acme', 'atlas', 'agent', 'atlas', null, 'fact', 'forged', 1, true, 'k', 60, null, 'UTC',"
        " 0, now())",
        "read_context": f"('acme', 'atlas', {names}, '', now(), 2, '{{}}', 100, 100)",
        "scope_stats": f"('acme', {names}, 'x')",
        "search": find + ")",
        "passages_around": "(%s::bigint[], '{1}', '{1}', '{0}', 1)",
        "pair_memories": "(%s::bigint[], '{}'::uuid[])",
        "read_memories": "('acme', 'atlas', 'agent', 'atlas', null, null, null, null, null, null, null, 10)",
        "explain_memory": f"('acme', '{roles.world.memories(PLACES[0])[0]}')",
        "use_memories": f"('acme', 'atlas', '{{{roles.world.memories(PLACES[0])[0]}}}', null)",
        "show_memories": f"('acme', 'atlas', 's1', '{{{roles.world.memories(PLACES[0])[0]}}}', now())",
        "read_changes": "('acme', '0-0', NULL, 10)",
        "await_changes": "('acme', 10)",
    }
    assert set(tries) == set(privileges.ENTRANCES)
    for name, arguments in tries.items():
        for scopes in [[others], [own, others], [own, 999_999]] if "%s" in arguments else [None]:
            with pytest.raises(InsufficientPrivilege, match=r"may not (act for|read scopes of)"):
                roles.deployment.ask(
                    "globex app", f"SELECT * FROM slowwave.{name}{arguments}", *([] if scopes is None else [scopes])
                )
    assert roles.deployment.ask("globex app", f"SELECT count(*) FROM slowwave.search{find})", [own])
    (noted,) = roles.deployment.ask(
        "globex app", "SELECT noted FROM slowwave.working_memory_stats('acme','agent','atlas')"
    )
    assert noted == (0,)
    with roles.memory("globex app", "acme") as memory:
        with pytest.raises(StoreUnavailable, match="may not act for tenant"):
            memory.context("atlas")
        with pytest.raises(StoreUnavailable, match="may not act for tenant"):
            memory.turn_completed("atlas", "s1", [{"role": "user", "content": "forged"}])
    for table in ("events", "working_memory"):
        assert roles.deployment.ask("owner", f"SELECT FROM slowwave.{table} WHERE content = 'forged'") == []


@pytest.mark.parametrize("part", ["acme app", "acme desk", "worker", "gateway"])
def test_no_login_writes_what_it_may_not_or_becomes_somebody_else(roles: Roles, part: str) -> None:
    found, functions = names_of(roles)
    role = PARTS[part][0]
    refused = [
        "SET ROLE postgres",
        "SET SESSION AUTHORIZATION postgres",
        "INSERT INTO slowwave.logins (login, role) VALUES (session_user, 'worker')",
        "UPDATE slowwave.logins SET tenant = 'globex'",
        "SELECT * FROM slowwave.logins",
        "CREATE TABLE slowwave.mine ()",
        "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "ALTER TABLE slowwave.events DISABLE ROW LEVEL SECURITY",
        "DROP POLICY tenant_isolation ON slowwave.memories",
        "ALTER FUNCTION slowwave.search SECURITY INVOKER",
        "CREATE ROLE more LOGIN",
        "COPY slowwave.agents TO '/tmp/agents'",
        *([] if part == "worker" else ["SET ROLE slowwave_worker", "CREATE TEMP TABLE vector (x int)"]),
    ]
    for table in found:
        may = privileges.table_privileges(role, table)
        refused += [f"TRUNCATE slowwave.{table}", f"DROP TABLE slowwave.{table}"]
        refused += [] if "DELETE" in may else [f"DELETE FROM slowwave.{table}"]
        refused += [] if "INSERT" in may else [f"INSERT INTO slowwave.{table} DEFAULT VALUES"]
    for function in functions:
        # A strict function of nothing but NULL is not even called.
        if not privileges.may_call(role, function.name) and not (function.is_trigger or function.name in STRICT):
            refused.append(f"SELECT {_with_nulls(function.signature)}")
    with roles.deployment.connection(part) as connection:
        for statement in refused:
            with pytest.raises(InsufficientPrivilege):
                assert connection.execute(statement) is None, statement


def _with_nulls(signature: str) -> str:
    name, _, arguments = signature.partition("(")
    return f"{name}({', '.join(f'null::{kind}' for kind in arguments.rstrip(')').split(',') if kind)})"


def test_i8_nothing_that_a_session_sets_opens_another_tenant(roles: Roles) -> None:
    with roles.deployment.connection("globex app") as connection:
        for setting in (
            "SET search_path = pg_temp, slowwave, public",
            "SET slowwave.tenant = 'acme'",
            "SET application_name = 'acme_app'",
            "SET row_security = off",
            "SET ROLE slowwave_producer",
        ):
            connection.execute(setting)
            try:
                rows = connection.execute("SELECT content FROM slowwave.memories").fetchall()
            except InsufficientPrivilege:
                assert "row_security" in setting
                connection.execute("SET row_security = on")
                continue
            assert words_in([list(row) for row in rows]) <= GLOBEX
            with pytest.raises(InsufficientPrivilege):
                connection.execute("SELECT slowwave.scope_stats('acme', '{agent}', '{atlas}', 'x')")


def test_i6_a_console_decides_for_its_tenant_and_for_no_other(roles: Roles) -> None:
    desk, now = roles.deployment.engine("globex desk"), datetime.now(UTC)
    for place in (PLACES[5], PLACES[0]):
        own = place.tenant == "globex"
        items = [
            row.id
            for row in roles.world.sql(
                "SELECT id FROM slowwave.review_items WHERE scope_id = :scope AND state = 'open'",
                scope=roles.world.scope_id(place),
            )
        ]
        assert items
        report = decide_cases(desk, place.tenant, "item", items, Decision("accept"), by="Priya", now=now)
        outcomes = {result.outcome for result in report.results}
        assert "decided" in outcomes if own else outcomes == {"unknown"}
    changed = roles.deployment.ask("globex desk", "UPDATE slowwave.memories SET importance = 1 RETURNING scope_id")
    theirs = {roles.world.scope_id(place) for place in PLACES if place.tenant == "acme"}
    assert not {row[0] for row in changed} & theirs
    with pytest.raises(InsufficientPrivilege, match="row-level security"):
        roles.deployment.ask(
            "globex desk",
            "INSERT INTO slowwave.review_items (scope_id, memory_id, why, tier, expires_at)"
            " VALUES (%s, %s, 'forged', 'low', now())",
            theirs.pop(),
            roles.world.memories(PLACES[0])[0],
        )


def test_a_login_has_one_role_and_one_tenant_and_none_that_no_wall_would_hold(roles: Roles) -> None:
    owner, app = roles.deployment.owner, roles.deployment.logins["acme app"]
    with owner.connect() as connection:
        assert not add_login(connection, app, "producer", "acme")
        for role, tenant in (("producer", "globex"), ("console", "acme")):
            with pytest.raises(LoginRefused, match="remove it first"):
                add_login(connection, app, role, tenant)
        with pytest.raises(LoginRefused, match="no policy would limit it"):
            add_login(connection, "postgres", "producer", "acme")
        for login, role, tenant in (
            ("slowwave_worker", "worker", None),
            ("x" * 64, "producer", "acme"),
            ("jonas", "producer", None),
            ("jonas", "worker", "acme"),
            ("jonas", "gateway", "acme"),
            ("jonas", "owner", None),
        ):
            with pytest.raises(InvalidName):
                add_login(connection, login, role, tenant)
        assert {known.tenant for known in known_logins(connection) if known.login == app} == {"acme"}
        connection.rollback()


def test_a_login_that_is_removed_sees_nothing_even_where_it_is_connected(roles: Roles) -> None:
    hostile = 'maya"; DROP ROLE %s; --'
    with roles.deployment.owner.begin() as connection:
        assert add_login(connection, hostile, "producer", "acme", verifier=None)
    with psycopg.connect(roles.deployment.url, user=hostile, autocommit=True) as open_still:
        query = "SELECT count(*) FROM slowwave.memories"
        assert open_still.execute(query).fetchone() != (0,)
        with roles.deployment.owner.begin() as connection:
            assert remove_login(connection, hostile)
            assert not remove_login(connection, hostile)
        with pytest.raises(InsufficientPrivilege):
            open_still.execute(query)
    with psycopg.connect(roles.deployment.url, autocommit=True) as connection:
        connection.execute(psycopg.sql.SQL("DROP ROLE {}").format(psycopg.sql.Identifier(hostile)))


def test_a_function_that_was_made_anew_lets_nobody_through_until_roles_are_applied_again(roles: Roles) -> None:
    with roles.deployment.owner.connect() as connection:
        assert as_caller(connection) == []
        connection.exec_driver_sql("ALTER FUNCTION slowwave.scope_stats SECURITY INVOKER")
        assert as_caller(connection) == ["scope_stats"]
        apply_grants(connection)
        assert as_caller(connection) == []
        connection.rollback()


def test_i8_no_login_delivers_what_another_one_may_not(roles: Roles) -> None:
    """Events that Postgres refuses to a login wait for that login: another one would write them elsewhere."""
    deployment, spool = roles.deployment, roles.folder / uuid.uuid4().hex

    def memory(url: str) -> Memory:
        return Memory(settings_on(url, "redis://127.0.0.1:1/0", spool))

    def heard() -> list[tuple[Any, ...]]:
        query = "SELECT a.tenant FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id"
        return deployment.ask("owner", f"{query} JOIN slowwave.agents a ON a.id = s.agent_id WHERE content = %s", SAID)

    misplaced = memory(deployment.url_of("acme app"))
    stored = misplaced.turn_completed("guide", "harbour", [{"role": "user", "content": SAID}]).stored
    assert (misplaced.tenant, stored) == ("default", "spool")
    misplaced.close()
    for url in (deployment.url, deployment.url_of("worker"), deployment.url_of("globex app")):
        other = memory(url)
        other.turn_completed("guide", "quay", [{"role": "user", "content": "Another word."}])
        other.flush(5)
        other.close()
    assert heard() == []
    with deployment.owner.begin() as connection:
        moved = "UPDATE slowwave.logins SET tenant = %s WHERE tenant = %s AND role = 'producer'"
        connection.exec_driver_sql(moved, ("default", "acme"))
    mended = memory(deployment.url_of("acme app"))
    assert mended.flush(10)
    mended.close()
    assert heard() == [("default",)]
    with deployment.owner.begin() as connection:
        connection.exec_driver_sql(moved, ("acme", "default"))
