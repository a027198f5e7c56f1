"""Every page there is, found by looking: who may open it, that nothing changes without a token, that text stays text.

A new page fails here until `NUMBERS` says where the parameters of its path come from.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
import redis
from sqlalchemy import text

from domain.console_roles import ORDER, may
from models.engine import make_engine
from tests.console.conftest import TENANT, Console, open_console, token_of
from tests.walls import PLACES, TODAY, open_world, settings_on
from workers.console.app import HEADERS
from workers.console.pages import NAVIGATION, PAGES
from workers.console.routing import Page

pytestmark = pytest.mark.servers

MARKUP = "<img src=x onerror=alert(1)>{{7*7}}"
WORDS = {tenant: [place.word for place in PLACES if place.tenant == tenant] for tenant in ("acme", "globex")}
NUMBERS = {
    "memory": "SELECT m.id FROM slowwave.memories m JOIN slowwave.scopes k ON k.id = m.scope_id WHERE tenant = :tenant",
    "run": "SELECT r.id FROM slowwave.maintenance_runs r JOIN slowwave.scopes k ON k.id = r.scope_id"
    " WHERE k.tenant = :tenant",
    "question": "SELECT q.id FROM slowwave.review_items q JOIN slowwave.scopes k ON k.id = q.scope_id"
    " WHERE tenant = :tenant",
    "conflict": "SELECT c.id FROM slowwave.memory_conflicts c JOIN slowwave.scopes k ON k.id = c.scope_id"
    " WHERE tenant = :tenant",
    "letter": "SELECT id FROM slowwave.dead_letters WHERE tenant = :tenant",
    "day": f"SELECT '{TODAY}'",
    "job": "SELECT 'light'",
}
"""Values of parameters of paths: some of a tenant's."""
OPEN = [page for page in PAGES if page.role is None]
GUARDED = [page for page in PAGES if page.role is not None]
QUERIES = ("", "agent=atlas&session={word}-talk&query={word}&text={word}&entity={word}", "scope=room:kitchen")


@pytest.fixture(scope="module")
def filled(module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """Two tenants with something in every table, and markup beside each of their words, wherever it stands."""
    engine, client = make_engine(module_database), redis.Redis.from_url(valkey_url)
    client.flushall()
    settings = settings_on(module_database, valkey_url, tmp_path_factory.mktemp("console"))
    for _ in open_world(engine, settings, client, tmp_path_factory.mktemp("files")):
        pass
    with engine.begin() as connection:
        _mark(connection)
    with open_console(engine, client, settings.model_copy(update={"tenant": TENANT})) as console:
        yield console
    client.close()
    engine.dispose()


def _mark(connection: Any) -> None:
    columns = connection.execute(
        text(
            "SELECT c.table_name, c.column_name, c.data_type FROM information_schema.columns c"
            " JOIN information_schema.tables t USING (table_schema, table_name)"
            " WHERE table_schema = 'slowwave' AND t.table_type = 'BASE TABLE' AND c.is_generated = 'NEVER'"
            " AND c.data_type IN ('text', 'jsonb') AND c.table_name !~ '^(events_|alembic)'"
        )
    ).all()
    connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
    for table, column, kind in columns:
        for word in WORDS["acme"]:
            connection.execute(
                text(
                    f"UPDATE slowwave.{table} SET {column} = CAST(replace(CAST({column} AS text), :word, :marked)"
                    f" AS {kind}) WHERE strpos(CAST({column} AS text), :word) > 0"
                ),
                {"word": word, "marked": word + MARKUP},
            )


def paths_of(console: Console, page: Page, tenant: str) -> list[str]:
    """The page's path, for up to two values of each of its parameters."""
    paths = [page.path]
    for name, whole in {found[1]: found[0] for found in re.finditer(r"{(\w+)(?::\w+)?}", page.path)}.items():
        with console.engine.connect() as connection:
            rows = connection.execute(text(f"{NUMBERS[name]} ORDER BY 1 LIMIT 2"), {"tenant": tenant}).scalars()
            values = [str(value) for value in rows]
        assert values, f"nothing of {tenant} is a {name}"
        paths = [path.replace(whole, value) for path in paths for value in values]
    return paths


def addresses(console: Console, tenant: str) -> Iterator[str]:
    """Addresses of every page that is looked at: bare, and for agents and scopes that something is known of."""
    marked = {"acme": WORDS["acme"][0] + "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%7B%7B7*7%7D%7D"}
    word = marked.get(tenant, WORDS[tenant][0])
    for page in GUARDED:
        if page.method == "GET":
            for path in paths_of(console, page, tenant):
                for query in QUERIES if "{" not in page.path else QUERIES[:1]:
                    yield f"{path}?{query.format(word=word)}"


def ask(console: Console, who: str | None, page: Page, **data: str) -> Any:
    """The answer to a page of acme's, asked for by somebody."""
    (path, *_) = paths_of(console, page, "acme")
    return console.visitor(who).request(page.method, path, data=data if page.method == "POST" else None)


def everything(console: Console) -> dict[str, Any]:
    """Of each table how many rows it has, and its newest version of any: what a refused form must leave alone."""
    with console.engine.connect() as connection:
        names = connection.execute(
            text("SELECT tablename FROM pg_tables WHERE schemaname = 'slowwave' AND tablename !~ '^console_'")
        ).scalars()
        count = "SELECT count(*), max(CAST(CAST(xmin AS text) AS bigint)) FROM slowwave."
        return {name: connection.execute(text(f"{count}{name}")).one() for name in names}


def test_only_the_login_is_for_whoever_comes() -> None:
    assert {(page.method, page.path) for page in OPEN} == {("GET", "/login"), ("POST", "/login")}


def test_probes_need_no_login_and_are_told_nothing(filled: Console) -> None:
    assert filled.visitor(None).get("/healthz").text == "ok\n"


def test_what_changes_a_memory_needs_more_than_a_viewer() -> None:
    assert {page.method for page in PAGES} == {"GET", "POST"}
    own = {"/logout", "/account/tenant"}
    assert {page.path for page in GUARDED if page.method == "POST" and page.role == "viewer"} == own


def test_i8_every_page_is_refused_to_who_is_not_logged_in(filled: Console) -> None:
    before = everything(filled)
    for page in GUARDED:
        answer = ask(filled, None, page, token="none")  # noqa: S106 (no token at all)
        if page.method == "GET":
            assert (answer.status_code, answer.headers["location"].split("?")[0]) == (303, "/login"), page
        else:
            assert answer.status_code == 401, page
    assert everything(filled) == before


def test_every_page_is_refused_to_a_role_that_may_not(filled: Console) -> None:
    before = everything(filled)
    refused = 0
    for role in ORDER:
        token = token_of(filled.get("/account", who=role).text)
        for page in GUARDED:
            if page.role is not None and not may(role, page.role):
                answer = ask(filled, role, page, token=token)
                assert answer.status_code == 403, (role, page)
                assert f"needs the role {page.role}" in answer.text
                refused += 1
    assert refused
    assert everything(filled) == before


def test_no_form_changes_anything_without_the_token_of_its_own_login(filled: Console) -> None:
    others = token_of(filled.get("/account", who="curator").text)
    before = everything(filled)
    for page in GUARDED:
        if page.method == "POST":
            for data in ({}, {"token": ""}, {"token": others}, {"token": "é"}):
                answer = ask(filled, "operator", page, **data)
                assert answer.status_code == 403, (page, data)
                assert "another login" in answer.text
    assert everything(filled) == before
    assert filled.get("/account", who="operator").status_code == 200, "nor the login itself"


def test_every_answer_carries_the_headers_that_keep_browsers_strict(filled: Console) -> None:
    answers = [filled.get(path) for path in ("/", "/nowhere", "/static/console.css", "/static/nothing")]
    answers += [filled.visitor(None).get("/"), filled.visitor("viewer").post("/flush", data={})]
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert "unsafe" not in HEADERS["Content-Security-Policy"]


class Tags(HTMLParser):
    """What a browser makes of a page: its elements with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def faults(self) -> list[tuple[str, dict[str, str | None]]]:
        """Elements that this console never makes, and what its policy for content forbids."""
        return [
            (tag, given)
            for tag, given in self.found
            if tag in {"img", "style", "iframe", "object", "base"}
            or any(name == "style" or name.startswith("on") for name in given)
            or any(
                str(given.get(name)).strip().lower().startswith(("javascript:", "data:")) for name in ("href", "src")
            )
            or (tag == "script" and given != {"src": "/static/console.js", "defer": None})
        ]


def test_what_was_said_is_shown_as_text_on_every_page(filled: Console) -> None:
    shown = 0
    for address in addresses(filled, "acme"):
        answer = filled.get(address, who="operator")
        assert answer.status_code in {200, 303, 400, 404}, (address, answer.status_code)
        if answer.headers.get("content-type", "").startswith("text/html"):
            assert Tags(answer.text).faults() == [], address
            assert ">49" not in answer.text, (address, "what was said is no template")
            assert not [word for word in WORDS["globex"] if word in answer.text], address
            shown += "&lt;img src=x onerror=alert(1)&gt;{{7*7}}" in answer.text
    assert shown > 20


def test_i8_nothing_of_another_tenant_is_on_any_page(filled: Console) -> None:
    for address in addresses(filled, "globex"):
        body = filled.get(address, who="stranger").text
        assert not [word for word in WORDS["acme"] if word in body], address


def test_i8_what_is_another_tenants_is_not_there(filled: Console) -> None:
    for page in GUARDED:
        if page.method == "GET" and re.search(r"{(memory|run|question|conflict|letter)\b", page.path):
            for path in paths_of(filled, page, "acme"):
                answer = filled.get(path, who="stranger")
                assert answer.status_code == 404, path
                assert not [word for word in WORDS["acme"] if word in answer.text]


def test_every_entry_of_the_navigation_opens(filled: Console) -> None:
    for link in NAVIGATION:
        assert filled.get(link.path).status_code == 200, link
