"""The first page, agents and what their sessions wait for: told in the words that everybody else has for it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
import redis
from sqlalchemy import Engine, text
from starlette.testclient import TestClient

from slowwave.coordination.broker import connect_broker
from slowwave.settings import Settings
from slowwave_server.domain.health_issues import HEALTH_ISSUES
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.services.dead_letters.store import store_dead_letter
from slowwave_server.workers.console.app import make_app
from tests.console.conftest import PASSWORD, TENANT, Console, open_console, token_of

pytestmark = pytest.mark.servers


def words(page: str) -> str:
    """What a person reads of a page."""
    return " ".join(unescape(re.sub(r"<[^>]*>", "", page)).split())


@contextmanager
def asked(console: Console, **instead: Any) -> Iterator[TestClient]:
    """A client of a console with other collaborators."""
    parts = {"engine": console.engine, "redis": console.redis, "clock": lambda: datetime.now(UTC)} | instead
    app = make_app(console.settings, parts["engine"], parts["redis"], parts["clock"], console.memory)
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        yield client


def test_the_overview_names_troubles_in_the_words_of_the_catalogue_the_gravest_first(console: Console) -> None:
    with console.engine.begin() as connection:
        payload: dict[str, Any] = {"agent": "maya"}
        store_dead_letter(
            connection, task="slowwave.capture", tenant=TENANT, payload=payload, error="bad", now=datetime.now(UTC)
        )
    page = words(console.get("/?again=yes").text)
    found = [HEALTH_ISSUES[name] for name in ("no-worker", "sweeps-silent", "dead-letters")]
    assert found[0].title in page, page[:800]
    for issue in found:
        assert issue.title in page
        assert issue.cure.replace("`", "") in page
    assert [page.index(issue.title) for issue in found] == sorted(page.index(issue.title) for issue in found)
    assert "open: 1 letter of tenant 'acme'" in page
    with console.engine.begin() as connection:
        connection.execute(text("DELETE FROM slowwave.dead_letters"))
    assert HEALTH_ISSUES["dead-letters"].title in words(console.get("/").text), "kept for some seconds"
    assert HEALTH_ISSUES["dead-letters"].title not in words(console.get("/?again=yes").text)


def test_i8_who_sees_some_tenants_is_told_of_troubles_and_not_what_was_found_elsewhere(console: Console) -> None:
    console.memory.for_tenant("globex").turn_completed("maya", "s1", [{"role": "user", "content": "hello"}])
    with console.engine.begin() as connection:
        payload: dict[str, Any] = {"agent": "maya"}
        store_dead_letter(
            connection, task="slowwave.capture", tenant="globex", payload=payload, error="bad", now=datetime.now(UTC)
        )
    page = words(console.get("/?again=yes").text)
    assert HEALTH_ISSUES["dead-letters"].title in page
    assert "globex" not in page


def test_without_the_broker_pages_say_so_and_people_log_in(console: Console) -> None:
    away = connect_broker(Settings(broker_url="redis://127.0.0.1:1/0"))
    with asked(console, redis=away) as client:
        token = token_of(client.get("/login").text)
        sent = {"name": "viewer", "password": PASSWORD, "token": token}
        assert client.post("/login", data=sent).status_code == 303
        page = words(client.get("/").text)
    assert HEALTH_ISSUES["broker-away"].title in page
    assert HEALTH_ISSUES["broker-away"].cure.replace("`", "") in page
    away.close()


def test_without_postgres_every_page_says_what_to_do(console: Console) -> None:
    engine = make_engine("postgresql://slowwave@127.0.0.1:1/slowwave")
    with asked(console, engine=engine) as client:
        client.cookies.set("slowwave_console", "anything")
        answer = client.get("/memories")
    engine.dispose()
    assert answer.status_code == 503
    assert HEALTH_ISSUES["postgres-away"].title in words(answer.text)
    assert HEALTH_ISSUES["postgres-away"].cure in words(answer.text)


def test_on_an_older_schema_every_page_says_which_command_to_run(
    engine: Engine, database_url: str, valkey_url: str, redis_client: redis.Redis
) -> None:
    settings = Settings(database_url=database_url, broker_url=valkey_url, tenant=TENANT)
    with open_console(engine, redis_client, settings) as console:
        migrate(engine, "0100")
        with engine.begin() as connection:  # a table that only the newer schema has
            connection.execute(text("DROP TABLE slowwave.console_users CASCADE"))
        answer = console.visitor(None).get("/login")
    assert answer.status_code == 503
    assert HEALTH_ISSUES["schema-behind"].title in words(answer.text)


def test_a_failure_that_nobody_foresaw_is_told_without_its_words(
    console: Console, caplog: pytest.LogCaptureFixture
) -> None:
    said = "swordfish"

    def broken() -> datetime:
        raise KeyError(said)

    with asked(console, clock=broken) as client:
        client.cookies.set("slowwave_console", "anything")
        answer = client.get("/")
    assert answer.status_code == 500
    assert "KeyError" in answer.text
    assert said not in answer.text
    assert "in broken" in caplog.text
    assert said not in caplog.text


def test_who_is_not_logged_in_is_sent_to_the_login_and_from_there_to_where_they_wanted(console: Console) -> None:
    answer = console.visitor(None).get("/account?a=b%20c")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/account%3Fa%3Db%2520c")
