"""Logging in: who may, for how long, and what ends it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import redis
from sqlalchemy import Engine, text
from starlette.testclient import TestClient

from slowwave import Memory
from slowwave.coordination.broker import connect_broker
from slowwave.errors import InvalidName
from slowwave.settings import Settings
from slowwave_server.services.access.console_users import UserRefused, add_user, known_users, remove_user, set_password
from slowwave_server.services.access.login_failures import MOST_OF_A_NAME, MOST_OF_AN_ADDRESS, LoginFailures
from slowwave_server.workers.console.app import make_app
from slowwave_server.workers.console.routing import COOKIE
from tests.console.conftest import CHEAP, PASSWORD, TENANT, Console, token_of
from tests.support.roles import deployed

pytestmark = pytest.mark.servers


def sent(client: TestClient, name: str, password: str = PASSWORD, **more: str) -> Any:
    """The answer to the form of the login page."""
    page = client.get("/login")
    return client.post("/login", data={"name": name, "password": password, "token": token_of(page.text), **more})


def a_client(console: Console) -> TestClient:
    return TestClient(console.app, base_url="http://127.0.0.1", follow_redirects=False)


def test_whoever_has_the_password_gets_in_and_nobody_is_told_what_was_wrong(console: Console) -> None:
    client = a_client(console)
    wrong = [sent(client, "viewer", "not it, sorry"), sent(client, "nobody", PASSWORD)]
    assert {answer.status_code for answer in wrong} == {401}
    assert len({answer.text.replace("nobody", "viewer").count("Name or password is wrong") for answer in wrong}) == 1
    assert sent(client, "a\0b").status_code == 400
    assert client.get("/").status_code == 303
    assert sent(client, "viewer").status_code == 303
    assert client.get("/").status_code == 200


def test_the_login_needs_the_token_of_its_own_page(console: Console) -> None:
    client = a_client(console)
    client.get("/login")
    answer = client.post("/login", data={"name": "viewer", "password": PASSWORD, "token": "of another page"})
    assert answer.status_code == 403
    bare = a_client(console).post("/login", data={"name": "viewer", "password": PASSWORD, "token": ""})
    assert bare.status_code == 403


def test_cookies_are_kept_from_scripts_and_from_other_sites(console: Console) -> None:
    client = a_client(console)
    for cookie in (client.get("/login"), sent(client, "viewer")):
        for line in cookie.headers.get_list("set-cookie"):
            assert "HttpOnly" in line
            assert "SameSite=strict" in line
            assert "Secure" not in line, "on this machine alone browsers speak http"
    app = make_app(
        console.settings, console.engine, console.redis, lambda: datetime.now(UTC), console.memory, secure=True
    )
    safe = TestClient(app, base_url="https://console.example", follow_redirects=False)
    answers = [safe.get("/login"), sent(safe, "viewer")]
    assert all("Secure" in line for answer in answers for line in answer.headers.get_list("set-cookie"))
    safe.close()


@pytest.mark.parametrize(
    ("wanted", "then"),
    [
        ("/runs?before=3", "/runs?before=3"),
        ("https://elsewhere.example/", "/"),
        ("//elsewhere.example", "/"),
        ("/\\elsewhere.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/a\r\nSet-Cookie: x=y", "/"),
        ("/login?next=/login", "/"),
    ],
)
def test_a_login_leads_to_pages_of_this_console_alone(console: Console, wanted: str, then: str) -> None:
    assert sent(a_client(console), "viewer", next=wanted).headers["location"] == then


def test_who_guesses_waits_and_others_do_not(console: Console) -> None:
    client = a_client(console)
    for _ in range(MOST_OF_A_NAME):
        assert sent(client, "curator", "a guess, no more").status_code == 401
    refused = sent(client, "curator")
    assert (refused.status_code, "Too many logins failed" in refused.text) == (429, True)
    assert sent(client, "viewer").status_code == 303, "another name"
    assert LoginFailures(console.redis).begin("curator", "192.0.2.7").wait_seconds == 0, "another address"
    kept = b"".join(console.redis.scan_iter("slowwave:login-failures:*"))
    assert b"curator" not in kept, "a name may be a mistyped password"


def test_an_address_that_tries_many_names_waits(redis_client: redis.Redis) -> None:
    failures = LoginFailures(redis_client)
    for number in range(MOST_OF_AN_ADDRESS):
        assert failures.begin(f"name {number}", "192.0.2.7").wait_seconds == 0
    assert 0 < failures.begin("somebody else", "192.0.2.7").wait_seconds <= 300
    assert failures.begin("somebody else", "192.0.2.8").wait_seconds == 0


def test_right_logins_count_as_no_failures(redis_client: redis.Redis) -> None:
    failures = LoginFailures(redis_client)
    for _ in range(MOST_OF_AN_ADDRESS + 1):
        attempt = failures.begin("maya", "192.0.2.7")
        assert attempt.wait_seconds == 0
        failures.succeeded(attempt)


def test_addresses_of_one_network_of_ipv6_count_together(redis_client: redis.Redis) -> None:
    failures = LoginFailures(redis_client)
    for number in range(MOST_OF_A_NAME):
        assert failures.begin("maya", f"2001:db8::{number:x}").wait_seconds == 0
    assert failures.begin("maya", "2001:db8::ffff").wait_seconds > 0
    assert failures.begin("maya", "2001:db8:0:1::1").wait_seconds == 0
    for _ in range(MOST_OF_A_NAME):
        failures.begin("maya", "::ffff:192.0.2.7")
    assert failures.begin("maya", "192.0.2.7").wait_seconds > 0


def test_while_the_broker_is_away_people_get_in_and_guesses_pause() -> None:
    pauses: list[float] = []
    away = connect_broker(Settings(broker_url="redis://127.0.0.1:1/0"))
    failures = LoginFailures(away, pauses.append)
    attempt = failures.begin("viewer", "192.0.2.7")
    assert attempt.wait_seconds == 0
    failures.failed(attempt)
    assert pauses == [1.0]
    away.close()


def test_a_changed_password_a_removal_and_a_logout_end_logins(console: Console) -> None:
    with console.engine.begin() as connection:
        assert set_password(connection, "viewer", PASSWORD * 2, now=datetime.now(UTC), passwords=CHEAP)
    first = console.visitor("curator")
    stolen = a_client(console)
    stolen.cookies.set(COOKIE, first.cookies[COOKIE], domain="127.0.0.1", path="/")
    assert stolen.get("/").status_code == 200
    assert console.post("/logout", who="curator").headers["location"] == "/login"
    assert stolen.get("/").status_code == 303, "the secret itself is worth nothing any more"
    operator = console.visitor("operator")
    assert operator.get("/").status_code == 200
    with console.engine.begin() as connection:
        assert set_password(connection, "operator", PASSWORD * 2, now=datetime.now(UTC), passwords=CHEAP)
    assert operator.get("/").status_code == 303
    assert sent(operator, "operator").status_code == 401
    assert sent(operator, "operator", PASSWORD * 2).status_code == 303
    with console.engine.begin() as connection:
        assert remove_user(connection, "operator")
    assert operator.get("/").status_code == 303


def test_a_login_lasts_as_long_as_the_settings_say(console: Console) -> None:
    times = [datetime.now(UTC)]
    app = make_app(console.settings, console.engine, console.redis, lambda: times[-1], console.memory)
    client = TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)
    assert sent(client, "viewer").status_code == 303
    times.append(times[0] + timedelta(hours=console.settings.console.session_hours, seconds=-1))
    assert client.get("/account").status_code == 200
    times.append(times[-1] + timedelta(seconds=1))
    assert client.get("/account").status_code == 303
    client.close()
    with console.engine.connect() as connection:
        kept = connection.execute(text("SELECT digest, user_name FROM slowwave.console_sessions")).one()
    assert client.cookies.get(COOKIE, "").encode() not in bytes(kept.digest), "the table can't be used to log in"


def test_a_role_or_a_tenant_that_is_taken_away_is_gone_at_once(console: Console) -> None:
    assert console.post("/flush", agent="nobody").status_code == 404
    with console.engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.console_users SET role = 'viewer' WHERE name = 'operator'"))
    assert console.post("/flush", agent="nobody").status_code == 403
    with console.engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.console_users SET tenants = '{globex}' WHERE name = 'operator'"))
    assert console.visitor("operator").get("/account").status_code == 303


def test_a_form_of_one_tenant_changes_nothing_in_another(console: Console) -> None:
    for tenant in ("acme", "globex"):
        console.memory.for_tenant(tenant).turn_completed("maya", "s1", [{"role": "user", "content": "hello"}])
    with console.engine.begin() as connection:
        add_user(connection, "both", "operator", ["acme", "globex"], PASSWORD, passwords=CHEAP)
    client = console.visitor("both")
    old = token_of(client.get("/agent?agent=maya&tab=sessions").text)
    assert client.post("/account/tenant", data={"token": old, "tenant": "globex"}).status_code == 303
    assert "looking at tenant globex" in client.get("/account").text
    answer = client.post("/flush", data={"token": old, "agent": "maya"})
    assert (answer.status_code, "another tenant" in answer.text) == (403, True)
    new = token_of(client.get("/account").text)
    assert client.post("/account/tenant", data={"token": new, "tenant": "initech"}).status_code == 404


def test_what_a_page_says_once_can_be_said_by_nobody_else(console: Console) -> None:
    console.memory.turn_completed("maya", "s1", [{"role": "user", "content": "hello"}])
    answer = console.post("/flush", agent="maya", session="s1")
    client = console.visitor("operator")
    assert "A flush was asked for." in client.get(answer.headers["location"]).text
    assert "A flush was asked for." not in client.get(answer.headers["location"]).text
    other = console.visitor("curator")
    other.cookies.set("slowwave_said", answer.cookies["slowwave_said"], domain="127.0.0.1", path="/")
    assert "A flush was asked for." not in other.get("/account").text


def test_while_nobody_may_the_page_says_which_command_lets_somebody(
    engine: Engine, database_url: str, valkey_url: str, redis_client: redis.Redis
) -> None:
    settings = Settings(database_url=database_url, broker_url=valkey_url, tenant=TENANT)
    with Memory(settings) as memory:
        app = make_app(settings, engine, redis_client, lambda: datetime.now(UTC), memory)
        with TestClient(app, base_url="http://127.0.0.1") as client:
            page = client.get("/login").text
    assert "slowwave admin users add NAME --role operator" in page
    assert "password" not in page.split("<main")[1].casefold()


def test_people_are_checked_before_they_are_added(engine: Engine) -> None:
    with engine.begin() as connection:
        for name, tenants, password, told in (
            ("maya", [], PASSWORD, "name one tenant"),
            ("maya", ["*", "acme"], PASSWORD, "not both"),
            ("maya", ["acme"], "too short", "12 to 1000"),
        ):
            with pytest.raises(UserRefused, match=told):
                add_user(connection, name, "viewer", tenants, password, passwords=CHEAP)
        with pytest.raises(InvalidName, match="user"):
            add_user(connection, "a\nb", "viewer", ["acme"], PASSWORD, passwords=CHEAP)
        add_user(connection, "maya", "viewer", ["acme", "acme"], PASSWORD, passwords=CHEAP)
        with pytest.raises(UserRefused, match="is there already"):
            add_user(connection, "maya", "operator", ["acme"], PASSWORD, passwords=CHEAP)
        (known,) = known_users(connection, datetime.now(UTC))
        assert (known.role, known.tenants, known.logged_in) == ("viewer", ("acme",), False)


def test_i8_a_console_logs_in_as_its_tenants_and_sees_nobody_elses_people(
    database_url: str, valkey_url: str, redis_client: redis.Redis
) -> None:
    with deployed(database_url) as deployment:
        with deployment.owner.begin() as connection:
            add_user(connection, "maya", "operator", ["acme"], PASSWORD, passwords=CHEAP)
            add_user(connection, "jonas", "operator", ["globex"], PASSWORD, passwords=CHEAP)
        settings = Settings(database_url=deployment.url_of("acme desk"), broker_url=valkey_url, tenant=TENANT)
        with Memory(settings) as memory:
            engine = deployment.engine("acme desk")
            app = make_app(settings, engine, redis_client, lambda: datetime.now(UTC), memory)
            client = TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)
            assert sent(client, "jonas").status_code == 401
            assert sent(client, "maya").status_code == 303
            for path in ("/", "/agents", "/account"):
                assert client.get(path).status_code == 200, path
            owner = Settings(database_url=database_url, broker_url=valkey_url, tenant=TENANT)
            with Memory(owner) as host:
                host.turn_completed("atlas", "s1", [{"role": "user", "content": "hello"}])
            assert "atlas" in client.get("/agents").text
            refused = client.post("/flush", data={"token": token_of(client.get("/account").text), "agent": "atlas"})
            assert (refused.status_code, "this login may not do that" in refused.text) == (503, True)
            client.close()
        assert deployment.ask("acme desk", "SELECT name FROM slowwave.console_users") == [("maya",)]
        assert len(deployment.ask("worker", "SELECT name FROM slowwave.console_users")) == 2, "a console of all tenants"
        for table in ("console_users", "console_sessions"):
            with pytest.raises(Exception, match="permission denied"):
                deployment.ask("acme app", f"SELECT FROM slowwave.{table}")
        for part in ("acme desk", "worker"):
            with pytest.raises(Exception, match="permission denied"):
                deployment.ask(part, "UPDATE slowwave.console_users SET role = 'operator'")
