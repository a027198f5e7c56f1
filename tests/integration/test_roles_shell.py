"""`slowwave admin roles …` and the doctor's checks of logins, on real servers, for people and scripts."""

import base64
import hashlib
import hmac
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from redis import Redis
from sqlalchemy.engine import make_url

from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.privileges import GROUPS
from slowwave_server.services.reports.doctor import check_roles
from tests.support.shelling import Shell

pytestmark = pytest.mark.servers


class OwnerShell(Shell):
    """Runs commands as the owner of the tables, or as another login."""

    def __init__(self, database_url: str, valkey_url: str, folder: Path) -> None:
        super().__init__(database_url, valkey_url, folder)
        self.database_url = database_url

    def as_login(self, login: str) -> str:
        return make_url(self.database_url).set(username=login).render_as_string(hide_password=False)

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture
def shell(database_url: str, valkey_url: str, tmp_path: Path) -> OwnerShell:
    return OwnerShell(database_url, valkey_url, tmp_path)


@pytest.fixture
def login(shell: OwnerShell) -> Iterator[str]:
    """A name that no other test of this server has; whoever has it is gone afterwards."""
    name = f"desk_{uuid.uuid4().hex[:10]}"
    yield name
    if shell.sql(f"SELECT FROM pg_roles WHERE rolname = '{name}'"):
        shell.sql(f"DROP OWNED BY {name}")
        shell.sql(f"DROP ROLE {name}")


def test_i8_a_login_is_made_sees_its_tenant_alone_is_listed_and_removed(shell: OwnerShell, login: str) -> None:
    for tenant, note in (("acme", "Priya grows tomatoes."), ("globex", "Jonas keeps bees.")):
        shell.text("--tenant", tenant, "note", "add", "atlas", note)
    early = shell("--tenant", "acme", "admin", "roles", "add", login, "--role", "console")
    assert (early.exit_code, "`slowwave admin roles apply` first" in early.stderr) == (1, True)
    assert shell.sql(f"SELECT FROM pg_roles WHERE rolname = '{login}'") == []
    assert "There are no logins: every process uses the owner" in shell.text("admin", "roles", "list")
    assert "Each role has its rights" in shell.text("admin", "roles", "apply")

    told = shell.text("--tenant", "acme", "admin", "roles", "add", login, "--role", "console")
    assert f"{login} is made, a console of tenant acme." in told
    assert shell.json("admin", "roles", "list") == [
        {"login": login, "role": "console", "tenant": "acme", "exists": True}
    ]
    assert "acme" in shell.text("admin", "roles", "list")
    own = {"SLOWWAVE_DATABASE_URL": shell.as_login(login)}
    assert "tomatoes" in shell.text("--tenant", "acme", "note", "list", "atlas", **own)
    assert "bees" not in shell("--tenant", "globex", "note", "list", "atlas", **own).output

    again = shell("--tenant", "globex", "admin", "roles", "add", login, "--role", "console")
    assert (again.exit_code, "remove it first" in again.stderr) == (1, True)
    assert f"{login} has no rights here any more." in shell.text("admin", "roles", "remove", login)
    gone = shell("admin", "roles", "remove", login)
    assert (gone.exit_code, "is not registered" in gone.stdout) == (1, True)
    refused = shell("--tenant", "acme", "note", "list", "atlas", **own)
    assert refused.exit_code == 3
    assert "permission denied" in refused.stderr
    assert "roles list" in refused.stderr


def _proves(verifier: str, password: str) -> bool:
    """Whether what Postgres keeps (RFC 5803) is of this password."""
    kind, rounds, keys = verifier.split("$")
    count, salt = rounds.split(":")
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(salt), int(count))
    server = hmac.digest(salted, b"Server Key", "sha256")
    return kind == "SCRAM-SHA-256" and base64.b64decode(keys.split(":")[1]) == server


def test_gateway_login_belongs_to_no_tenant_and_is_listed(shell: OwnerShell, login: str) -> None:
    shell.text("admin", "roles", "apply")
    told = shell.text("--tenant", "acme", "admin", "roles", "add", login, "--role", "gateway")
    assert f"{login} is made, a gateway of the tenant of a key." in told
    assert shell.json("admin", "roles", "list") == [{"login": login, "role": "gateway", "tenant": None, "exists": True}]
    assert "the tenant of a key" in shell.text("admin", "roles", "list")
    assert shell.sql(f"SELECT rolconnlimit FROM pg_roles WHERE rolname = '{login}'") == [(64,)]
    shell.text("--tenant", "acme", "note", "add", "atlas", "Priya grows tomatoes.")
    seen = shell("--tenant", "acme", "note", "list", "atlas", SLOWWAVE_DATABASE_URL=shell.as_login(login)).output
    assert "tomatoes" not in seen


def test_a_password_is_shown_once_or_read_and_is_the_one_that_postgres_knows(shell: OwnerShell, login: str) -> None:
    shell.text("admin", "roles", "apply")

    def kept() -> str | None:
        return shell.sql(f"SELECT rolpassword FROM pg_authid WHERE rolname = '{login}'")[0][0]

    made = shell.json("admin", "roles", "add", login, "--role", "worker")
    assert (made["made"], made["tenant"]) == (True, None)
    assert _proves(str(kept()), made["password"])
    assert not _proves(str(kept()), "something else")
    shown = shell.text("admin", "roles", "add", login, "--role", "worker").split("shown only now: ")[1].strip()
    assert _proves(str(kept()), shown)
    told = shell.text("admin", "roles", "add", login, "--role", "worker", "--password-stdin", stdin="a word of ours\n")
    assert "a word of ours" not in told
    assert _proves(str(kept()), "a word of ours")
    assert "shown" not in shell.text("admin", "roles", "add", login, "--role", "worker", "--no-password")
    assert _proves(str(kept()), "a word of ours")
    assert shell("admin", "roles", "add", login, "--role", "worker", "--password-stdin", stdin="\n").exit_code == 2


def test_printed_sql_does_for_an_administrator_what_the_command_does(shell: OwnerShell, login: str) -> None:
    printed = shell.text("admin", "roles", "apply", "--print")
    assert shell.json("admin", "roles", "apply", "--print")["statements"][0] in printed
    before = "SELECT proname FROM pg_proc WHERE prosecdef AND pronamespace = 'slowwave'::regnamespace ORDER BY 1"
    assert ("capture_batch",) not in shell.sql(before)
    with psycopg.connect(shell.database_url, autocommit=True) as connection:
        connection.execute(printed.encode())
    assert ("capture_batch",) in shell.sql(before)
    shell.text("admin", "roles", "add", login, "--role", "worker")
    own = {"SLOWWAVE_DATABASE_URL": shell.as_login(login)}
    assert shell.text("note", "add", "atlas", "Priya grows tomatoes.", **own)
    assert "tomatoes" in shell.text("note", "list", "atlas", **own)


def test_what_cannot_be_done_is_a_sentence_and_exit_code(shell: OwnerShell, login: str) -> None:
    shell.text("admin", "roles", "apply")
    shell.text("admin", "roles", "add", login, "--role", "worker")
    own = {"SLOWWAVE_DATABASE_URL": shell.as_login(login)}
    for call in (("apply",), ("add", "more", "--role", "worker"), ("remove", "x"), ("list",)):
        result = shell("admin", "roles", *call, **own)
        assert (result.exit_code, result.stdout) == (3, "")
        assert "this login may not change roles" in result.stderr
        assert "as the owner" in result.stderr
    for call, code, words in (
        (("add", "postgres", "--role", "worker"), 1, "no policy would limit it"),
        (("add", "slowwave_worker", "--role", "worker"), 2, "is a group"),
        (("add", "maya", "--role", "king"), 2, "king"),
        (("redis", "king"), 2, "king"),
        (("redis", "sender", "--name", "two words"), 2, "letters, digits"),
        (("redis", "sender", "--name", "x\nuser y on nopass"), 2, "letters, digits"),
    ):
        result = shell("admin", "roles", *call)
        assert (result.exit_code, result.stdout) == (code, ""), call
        assert words in result.stderr


def test_a_user_of_the_broker_is_what_the_command_prints(shell: OwnerShell, redis_client: Redis) -> None:
    result = shell("--tenant", "acme", "admin", "roles", "redis", "producer", "--name", "acme_app")
    password = result.stderr.strip().rpartition(" ")[2]
    assert password not in result.stdout
    try:
        assert redis_client.execute_command(*result.stdout.split()) in (True, b"OK")
        port = redis_client.connection_pool.connection_kwargs["port"]
        own = {"SLOWWAVE_BROKER_URL": f"redis://acme_app:{password}@127.0.0.1:{port}/0"}
        found = {
            check["name"]: check for check in json.loads(shell("doctor", "--quick", "--json", **own).stdout)["checks"]
        }
        assert (found["broker"]["verdict"], "may not read" in found["broker"]["finding"]) == ("ok", True)
        wrong = {"SLOWWAVE_BROKER_URL": f"redis://acme_app:other@127.0.0.1:{port}/0"}
        said = shell("doctor", "--quick", **wrong).stdout
        assert "refused" in said
        assert "slowwave admin roles redis" in said
    finally:
        redis_client.execute_command("ACL", "DELUSER", "acme_app")
    line = shell.json("admin", "roles", "redis", "sender", "--line")
    assert line["rule"].startswith("user sender reset ")
    assert hashlib.sha256(line["password"].encode()).hexdigest() in line["rule"]


def _roles(shell: OwnerShell, login: str | None = None) -> tuple[str, str]:
    engine = make_engine(shell.database_url if login is None else shell.as_login(login))
    with engine.connect() as connection:
        found = next(check_roles(connection))
    engine.dispose()
    return found.verdict, f"{found.finding} {found.cure}"


def test_the_doctor_sees_roles_that_are_older_than_the_schema_whoever_asks(shell: OwnerShell, login: str) -> None:
    assert _roles(shell)[1].startswith("everybody logs in as the owner")
    shell.text("admin", "roles", "apply")
    shell.text("admin", "roles", "add", login, "--role", "worker")
    assert _roles(shell)[0] == _roles(shell, login)[0] == "ok"
    shell.sql("ALTER FUNCTION slowwave.scope_stats SECURITY INVOKER")
    shell.sql("CREATE TABLE slowwave.later ()")
    shell.sql("CREATE FUNCTION slowwave.newest() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    shell.sql("REVOKE ALL ON FUNCTION slowwave.newest FROM PUBLIC")
    for who in (None, login):
        verdict, said = _roles(shell, who)
        assert verdict == "problem"
        assert "3 things" in said
        assert "later, newest, scope_stats" in said
    told = shell("doctor", SLOWWAVE_DATABASE_URL=shell.as_login(login)).stdout
    assert "Run `slowwave admin roles apply` as the owner." in told
    shell.text("admin", "migrate")
    assert _roles(shell, login)[0] == "ok"


def test_every_role_sees_that_servers_answer_and_the_schema_is_right(shell: OwnerShell, login: str) -> None:
    shell.text("admin", "roles", "apply")
    own = {"SLOWWAVE_DATABASE_URL": shell.as_login(login), "SLOWWAVE_TENANT": "acme"}
    for role in GROUPS:
        shell.text("--tenant", "acme", "admin", "roles", "add", login, "--role", role)
        assert shell("doctor", "--quick", **own).exit_code == 0
        shell.text("admin", "roles", "remove", login)
    said = shell("doctor", "--quick", **own)
    assert said.exit_code == 1
    assert "slowwave admin roles list" in said.stdout
    stranger = shell("doctor", "--quick", SLOWWAVE_DATABASE_URL=shell.as_login("nobody_of_ours"))
    assert "slowwave admin roles add" in stranger.stdout


def test_the_doctor_names_logins_without_a_bound(shell: OwnerShell, login: str) -> None:
    shell.text("admin", "roles", "apply")
    shell.text("--tenant", "acme", "admin", "roles", "add", login, "--role", "producer", "--connections", "5")
    limit = f"SELECT rolconnlimit FROM pg_roles WHERE rolname = '{login}'"
    assert shell.sql(limit) == [(5,)]
    assert _logins(shell)["verdict"] == "ok"
    shell.sql(f"ALTER ROLE {login} CONNECTION LIMIT -1")
    found = _logins(shell)
    assert (found["verdict"], found["issue"]) == ("problem", "producers-unbounded")
    assert found["finding"] == f"login {login!r} has no connection limit"
    assert "slowwave admin roles apply" in found["cure"]
    shell.text("admin", "roles", "apply")
    assert shell.sql(limit) == [(32,)]
    assert _logins(shell)["verdict"] == "ok"


def test_a_login_that_may_not_change_roles_is_told_what_may(shell: OwnerShell, login: str) -> None:
    shell.text("admin", "roles", "apply")
    shell.text("admin", "roles", "add", login, "--role", "worker")
    for call in (("apply",), ("add", "other", "--role", "worker"), ("remove", login)):
        result = shell("admin", "roles", *call, SLOWWAVE_DATABASE_URL=shell.as_login(login))
        assert (result.exit_code, result.stdout) == (3, ""), call
        assert "this login may not change roles: permission denied" in result.stderr
        assert "as the owner: a login that owns the tables and has CREATEROLE" in result.stderr
        assert "slowwave admin roles apply --print" in result.stderr


def test_migration_tells_an_owner_that_an_administrator_must_make_a_group(shell: OwnerShell, login: str) -> None:
    """A version with a new role has a new group, which an owner without CREATEROLE can't make."""
    shell.text("admin", "roles", "apply")
    shell.text("admin", "roles", "add", f"{login}_worker", "--role", "worker")
    shell.sql(f"CREATE ROLE {login} LOGIN")
    shell.sql(_OWN.format(login=login))
    shell.text("admin", "roles", "apply")  # as an administrator, who lends the owner what it needs
    own = {"SLOWWAVE_DATABASE_URL": shell.as_login(login)}
    shell.sql("ALTER ROLE slowwave_gateway RENAME TO not_made_yet")
    try:
        result = shell("admin", "migrate", **own)
        assert (result.exit_code, "permission denied to create role" in result.stderr) == (3, True)
        assert "slowwave admin roles apply --print" in result.stderr
        printed = shell.text("admin", "roles", "apply", "--print", **own)
        assert "CREATE ROLE slowwave_gateway" in printed
    finally:
        shell.sql("ALTER ROLE not_made_yet RENAME TO slowwave_gateway")
        shell.sql(f"DROP OWNED BY {login}_worker; DROP ROLE {login}_worker")


_OWN = """DO $$ DECLARE f record; BEGIN
EXECUTE format('ALTER DATABASE %I OWNER TO {login}', current_database());
ALTER SCHEMA slowwave OWNER TO {login};
FOR f IN SELECT oid::regclass AS name FROM pg_class WHERE relnamespace = 'slowwave'::regnamespace
    AND relkind IN ('r', 'p', 'v') LOOP EXECUTE format('ALTER TABLE %s OWNER TO {login}', f.name); END LOOP;
FOR f IN SELECT oid::regprocedure AS name FROM pg_proc WHERE pronamespace = 'slowwave'::regnamespace
    LOOP EXECUTE format('ALTER FUNCTION %s OWNER TO {login}', f.name); END LOOP;
END $$"""


def _logins(shell: OwnerShell) -> dict[str, Any]:
    checks: list[dict[str, Any]] = json.loads(shell("doctor", "--json").stdout)["checks"]
    return next(check for check in checks if check["name"] == "logins")
