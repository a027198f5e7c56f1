"""The audit log: what leaves a row, who reads it, that a console can't take one back, and that secrets stay masked."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
import redis
from sqlalchemy import Engine, text

from slowwave import Memory
from slowwave.settings import Settings
from slowwave_server.services.access.audit_log import AUDIT_DAYS, list_acts, note_act, remove_old_acts
from slowwave_server.services.access.console_users import add_user
from slowwave_server.workers.cli.main import app as shell_app
from slowwave_server.workers.console.app import make_app
from tests.console.conftest import CHEAP, PASSWORD, TENANT, Console, open_console, token_of
from tests.support.passing import Past
from tests.support.roles import deployed
from tests.support.shelling import CliRunner

pytestmark = pytest.mark.servers

NOW = datetime.now(UTC)
SECRET = "hunter2hunter2"  # noqa: S105


@pytest.fixture
def console(engine: Engine, database_url: str, valkey_url: str, redis_client: redis.Redis) -> Iterator[Console]:
    with open_console(
        engine, redis_client, Settings(database_url=database_url, broker_url=valkey_url, tenant=TENANT)
    ) as made:
        yield made


@pytest.fixture
def memory(engine: Engine) -> UUID:
    """A memory of acme's, said together with a secret."""
    memory = Past(engine, tenant=TENANT).say("Maya lives in Porto.")
    with engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.events SET content = :said"), {"said": f"My password is {SECRET}."})
    return memory


def acts(engine: Engine, tenant: str = TENANT, *, nobodys: bool = True) -> list[tuple[str, str | None, str, str]]:
    """(action, actor, via, what), the oldest first."""
    with engine.connect() as connection:
        found = list_acts(connection, tenant, nobodys=nobodys, limit=1000)
    return [(act.action, act.actor, act.via, act.what) for act in reversed(found)]


def test_logins_leave_rows_without_what_was_typed(console: Console) -> None:
    client = console.visitor(None)
    for name in ("operator", "my-password-typed-here", "nul\\0"):
        token = token_of(client.get("/login").text)
        assert client.post("/login", data={"name": name, "password": "a guess", "token": token}).status_code == 401
    console.visitor("curator")
    assert [(action, actor) for action, actor, *_ in acts(console.engine)] == [
        ("failed login", "operator"),
        ("failed login", None),
        ("failed login", None),
        ("login", "curator"),
    ]
    assert "typed" not in repr(acts(console.engine))
    shown = console.get("/audit", who="operator").text
    assert ("an unknown name" in shown, "failed login" in shown) == (True, True)


def test_secrets_are_shown_to_operators_alone_and_leave_a_row(console: Console, memory: UUID) -> None:
    page = f"/memories/{memory}"
    for who in ("viewer", "curator", "operator"):
        shown = console.get(page, who=who).text
        assert (SECRET in shown, "[redacted:password]" in shown) == (False, True)
        assert (f"{page}/reveal" in shown) is (who == "operator")
    for who in ("viewer", "curator"):
        assert console.post(f"{page}/reveal", who=who).status_code == 403
    assert console.post(f"{page}/reveal", who="stranger").status_code == 404
    assert console.visitor("operator").get(f"{page}/reveal").status_code == 405
    assert not [act for act in acts(console.engine) if act[0] == "reveal"]
    assert SECRET in console.post(f"{page}/reveal").text
    assert [act for act in acts(console.engine) if act[0] == "reveal"] == [
        ("reveal", "operator", "console", f"what was said for memory {memory}")
    ]
    assert SECRET not in console.get(page, who="operator").text, "this once"


def test_exports_leave_a_row_and_viewers_get_none(console: Console, memory: UUID) -> None:
    address = "/exports/download?scope=agent:concierge"
    assert console.get(address).status_code == 403
    assert console.get("/exports/download?scope=agent:nobody", who="curator").status_code == 404
    assert not [act for act in acts(console.engine) if act[0] == "export"]
    assert console.get(address, who="curator").status_code == 200
    assert [act[:2] for act in acts(console.engine) if act[0] == "export"] == [("export", "curator")]


def test_the_log_is_for_operators_of_its_tenant(console: Console, engine: Engine) -> None:
    with engine.begin() as connection:
        for tenant, what in ((TENANT, "Quorvex"), ("globex", "Jaskill"), (None, "Mortwen")):
            note_act(connection, "role", "maya", what, tenant=tenant, via="shell", now=NOW)
    Past(engine, tenant="globex").say("Jonas lives in Rome.")
    Past(engine, tenant=TENANT).say("Maya lives in Porto.")
    for who in ("viewer", "curator"):
        assert console.get("/audit", who=who).status_code == 403
    for who, seen in (("operator", "Quorvex"), ("stranger", "Jaskill")):
        shown = console.get("/audit?action=role", who=who).text
        assert [word for word in ("Quorvex", "Jaskill", "Mortwen") if word in shown] == [seen]


def test_the_shell_leaves_rows_and_shows_them(database_url: str, engine: Engine, memory: UUID, tmp_path: Path) -> None:
    def shell(*arguments: str, stdin: str | None = None) -> str:
        result = CliRunner().invoke(
            shell_app, ["--tenant", TENANT, *arguments], env={"SLOWWAVE_DATABASE_URL": database_url}, input=stdin
        )
        assert result.exit_code == 0, result.output
        return result.stdout

    shell("admin", "users", "add", "jonas", "--role", "viewer", "--password-stdin", stdin=f"{PASSWORD}\n")
    shell("admin", "users", "password", "jonas", "--password-stdin", stdin=f"{PASSWORD}!\n")
    shell("admin", "users", "remove", "jonas")
    assert SECRET not in shell("memory", "show", str(memory))
    assert SECRET in shell("memory", "show", str(memory), "--reveal")
    shell("memory", "export", "concierge", str(tmp_path / "memory"))
    shown = json.loads(shell("admin", "audit", "--json"))
    assert [(act["action"], act["via"]) for act in reversed(shown)] == [
        *[("role", "shell")] * 3, ("reveal", "shell"), ("export", "shell"),
    ]  # fmt: skip
    assert "jonas was added as viewer" in shell("admin", "audit", "--action", "role")
    assert "jonas" not in shell("admin", "audit", "--action", "export")


def test_a_console_of_one_tenant_changes_and_forges_no_row(
    database_url: str, valkey_url: str, redis_client: redis.Redis
) -> None:
    with deployed(database_url) as deployment:
        memory = Past(deployment.owner, tenant=TENANT).say("Maya lives in Porto.")
        with deployment.owner.begin() as connection:
            add_user(connection, "operator", "operator", [TENANT], PASSWORD, passwords=CHEAP)
            note_act(connection, "role", "maya", "of another tenant", tenant="globex", via="shell", now=NOW)
        settings = Settings(database_url=deployment.url_of("acme desk"), broker_url=valkey_url, tenant=TENANT)
        engine = deployment.engine("acme desk")
        with Memory(settings) as host:
            app = make_app(settings, engine, redis_client, lambda: datetime.now(UTC), host)
            desk = Console(settings, engine, redis_client, host, app)
            client = desk.visitor(None)
            token = token_of(client.get("/login").text)
            wrong = {"name": "nobody", "password": "a guess", "token": token}
            assert client.post("/login", data=wrong).status_code == 401
            refused = desk.post(f"/memories/{memory}/reveal")
            assert (refused.status_code, "may not reveal secrets" in refused.text) == (403, True)
            desk.close()
        assert acts(engine) == acts(engine, nobodys=False)
        assert [act[:2] for act in acts(engine)] == [("failed login", None), ("login", "operator")]
        for forged in (
            "UPDATE slowwave.audit_log SET actor = 'maya'",
            "DELETE FROM slowwave.audit_log",
            "INSERT INTO slowwave.audit_log (tenant, action, via, what) VALUES ('globex', 'login', 'console', '')",
            "INSERT INTO slowwave.audit_log (tenant, action, via, what) VALUES (NULL, 'login', 'console', '')",
        ):
            with pytest.raises(Exception, match=r"permission denied|row-level security"):
                deployment.ask("acme desk", forged)
        with pytest.raises(Exception, match="permission denied"):
            deployment.ask("acme app", "SELECT FROM slowwave.audit_log")


def test_rows_go_after_their_time(engine: Engine) -> None:
    with engine.begin() as connection:
        for days in (AUDIT_DAYS + 1, AUDIT_DAYS - 1, 0):
            at = NOW - timedelta(days=days)
            note_act(connection, "login", f"day {days}", "as viewer", tenant=TENANT, via="console", now=at)
    assert remove_old_acts(engine, now=NOW, dry_run=True) == 1
    assert remove_old_acts(engine, now=NOW, go_on=lambda: False) == 0
    assert remove_old_acts(engine, now=NOW) == 1
    assert [act[1] for act in acts(engine)] == [f"day {AUDIT_DAYS - 1}", "day 0"]
