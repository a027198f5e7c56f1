"""Requests that claim to come from somewhere else, and cookies that somebody planted: neither helps whoever guesses."""

from collections.abc import Iterator

import pytest
import redis

from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.console_users import add_user
from slowwave_server.services.access.login_failures import MOST_OF_A_NAME
from tests.attacks.consoling import PASSWORD, ConsoleProcess, console_process
from tests.console.conftest import CHEAP

pytestmark = pytest.mark.servers

NAMED = "127.0.0.1, 127.0.0.0/29"
"""The proxies that the console believes: 127.0.0.1 to 127.0.0.7."""


@pytest.fixture(scope="module")
def running(module_database: str, valkey_url: str) -> Iterator[ConsoleProcess]:
    """A console behind a proxy at 127.0.0.1."""
    engine = make_engine(module_database)
    with engine.begin() as connection:
        add_user(connection, "maya", "viewer", ["default"], PASSWORD, passwords=CHEAP)
    engine.dispose()
    variables = {"SLOWWAVE_DATABASE_URL": module_database, "SLOWWAVE_BROKER_URL": valkey_url}
    with console_process(variables, "--behind-proxy", NAMED) as process:
        yield process


@pytest.fixture
def console(running: ConsoleProcess, redis_client: redis.Redis) -> ConsoleProcess:
    """The console, with a broker that counted no login yet."""
    assert redis_client.dbsize() == 0
    return running


def guesses(console: ConsoleProcess, source: str, claims: list[str]) -> list[int]:
    """The statuses of wrong logins from `source`, each with another X-Forwarded-For."""
    form = console.form(source)
    return [
        console.log_in("maya", "a guess", form=form, source=source, headers={"X-Forwarded-For": claim}).status
        for claim in claims
    ]


def test_spoofed_addresses_do_not_go_round_the_limit(console: ConsoleProcess) -> None:
    limit = [401] * MOST_OF_A_NAME + [429]
    numbers = range(MOST_OF_A_NAME + 1)
    assert guesses(console, "127.0.0.9", [f"192.0.2.{n}" for n in numbers]) == limit, "no proxy: its word is not heard"
    assert guesses(console, "127.0.0.1", [f"192.0.2.{n}, 198.51.100.7" for n in numbers]) == limit
    inside = [f"127.0.0.{n % 8}, 192.0.2.{n}, 127.0.0.5" for n in numbers]
    assert guesses(console, "127.0.0.1", inside) == limit, "a client in the proxy's own network chooses nothing either"
    assert guesses(console, "127.0.0.1", [f"word {n}" for n in numbers]) == limit, "no address: the proxy's own counts"
    named = {"X-Forwarded-For": "198.51.100.8"}
    assert console.log_in("maya", PASSWORD, headers=named).status == 303, "another client of the same proxy"


def test_a_planted_cookie_is_never_taken(console: ConsoleProcess) -> None:
    name = "__Host-slowwave_before_login"
    planted = ("planted", f"{name}=planted")
    assert console.log_in("maya", PASSWORD, form=planted).status == 403, "no console signed it"
    page = console.ask("GET", "/login", headers={"Cookie": planted[1]})
    assert 'value="planted"' not in page.text
    assert [cookie.split("=")[0] for cookie in page.cookies] == [name]
    assert page.cookies[0] != planted[1]
    token, cookie = console.form()
    crossed = console.log_in("maya", PASSWORD, form=(token, cookie), headers={"Sec-Fetch-Site": "same-site"})
    assert crossed.status == 403, "the form was sent by another host's page"
    plain = console.log_in("maya", PASSWORD, form=(token, cookie.removeprefix("__Host-")))
    assert plain.status == 403, "another host may set a cookie of the plain name"


def test_each_login_has_a_secret_of_its_own(console: ConsoleProcess) -> None:
    name = "__Host-slowwave_console"
    token, cookie = console.form()
    before = console.log_in("maya", PASSWORD, form=(token, f"{cookie}; {name}=planted"))
    (secret,) = [one for one in before.cookies if one.startswith(f"{name}=")]
    assert secret != f"{name}=planted"
    assert console.ask("GET", "/account", headers={"Cookie": secret}).status == 200
    after = console.log_in("maya", PASSWORD, form=(token, f"{cookie}; {secret}"))
    (renewed,) = [one for one in after.cookies if one.startswith(f"{name}=")]
    assert renewed != secret
    assert console.ask("GET", "/account", headers={"Cookie": secret}).status == 303, "the login before has ended"
    assert console.ask("GET", "/account", headers={"Cookie": renewed}).status == 200
