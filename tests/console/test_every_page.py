"""Every page there is, found by looking: who may open it, that nothing changes without a token, that text stays text.

A new page fails here until `walking.NUMBERS` says where the parameters of its path come from.
"""

import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import text
from starlette.routing import Match

from slowwave_server.domain.console_roles import ORDER, may
from slowwave_server.workers.console.app import HEADERS
from slowwave_server.workers.console.pages import NAVIGATION, PAGES
from slowwave_server.workers.console.routing import Page
from tests.console.conftest import Console, token_of
from tests.console.walking import GUARDED, OF_A_TENANT, WORDS, addresses, paths_of

pytestmark = [pytest.mark.servers, pytest.mark.long]

OPEN = [page for page in PAGES if page.role is None]


def ask(console: Console, who: str | None, page: Page, **data: str) -> Any:
    """The answer to a page of acme's, asked for by somebody."""
    (path, *_) = paths_of(console, page, "acme")
    return console.visitor(who).request(page.method, path, data=data if page.method == "POST" else None)


def everything(console: Console) -> dict[str, Any]:
    """Of each table how many rows it has, and its newest version of any: what a refused form must leave alone."""
    for role in ORDER:
        console.visitor(role)  # logged in from here on: a login leaves a row
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


SCRIPTS = {
    f"/static/{name}"
    for name in ("console.js", "vendor/htmx.min.js", "vendor/idiomorph-ext.min.js", "vendor/uPlot.iife.min.js")
}


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
            or (tag == "script" and (given.get("src") not in SCRIPTS or set(given) != {"src", "defer"}))
        ]


def test_what_was_said_is_shown_as_text_on_every_page(filled: Console) -> None:
    shown = 0
    for address in addresses(filled, "acme"):
        answer = filled.get(address, who="operator")
        assert answer.status_code in {200, 303, 400, 404}, (address, answer.status_code)
        if answer.headers.get("content-type", "").startswith("text/html"):
            assert Tags(answer.text).faults() == [], address
            assert ">49" not in answer.text.replace(">49 s ago", ""), (address, "what was said is no template")
            assert not [word for word in WORDS["globex"] if word in answer.text], address
            shown += "&lt;img src=x onerror=alert(1)&gt;{{7*7}}" in answer.text
    assert shown > 20


def test_every_form_and_link_of_every_page_has_a_route(filled: Console) -> None:
    wanted: set[tuple[str, str]] = set()
    for address in addresses(filled, "acme"):
        for tag, given in Tags(filled.get(address, who="operator").text).found:
            target = str(given.get({"form": "action", "button": "formaction"}.get(tag, "href")))
            if tag in {"form", "button", "a"} and target.startswith("/"):
                posted = tag == "button" or given.get("method") == "post"
                wanted.add(("POST" if posted else "GET", target.partition("?")[0].partition("#")[0]))
    scopes = ({"type": "http", "method": method, "path": path} for method, path in wanted)
    lost = [one for one in scopes if all(route.matches(one)[0] is not Match.FULL for route in filled.app.routes)]
    assert lost == []
    assert len(wanted) > 50


def test_i8_nothing_of_another_tenant_is_on_any_page(filled: Console) -> None:
    for address in addresses(filled, "globex"):
        body = filled.get(address, who="stranger").text
        assert not [word for word in WORDS["acme"] if word in body], address


def test_i8_what_is_another_tenants_is_not_there(filled: Console) -> None:
    for page in GUARDED:
        if page.method == "GET" and OF_A_TENANT & set(re.findall(r"{(\w+)", page.path)):
            for path in paths_of(filled, page, "acme"):
                answer = filled.get(path, who="stranger")
                assert answer.status_code == 404, path
                assert not [word for word in WORDS["acme"] if word in answer.text]


HOSTILE = ("\0", "9" * 40, "-1", "🦊" * 60, "' OR 1=1 --", "2026-13-45")
NAMES = """agent session tab place of at settled all into item kind scope scopes query words entity relation name
    type status state day version before after depth as_of known_at max_tokens days memory event
    answer content reason confirm seen decision months tier next limit""".split()


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_that_is_typed_into_an_address_breaks_a_page(filled: Console, value: str) -> None:
    given = urlencode(dict.fromkeys(NAMES, value))
    for page in GUARDED:
        if page.method == "GET":
            answer = filled.get(f"{paths_of(filled, page, 'acme')[0]}?{given}", who="operator")
            assert answer.status_code < 500, (page, value, answer.text[-600:])


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_that_is_typed_into_a_form_breaks_a_page(filled: Console, value: str) -> None:
    token = token_of(filled.get("/account", who="operator").text)
    for page in GUARDED:
        if page.method == "POST" and page.path != "/logout" and not page.path.endswith("/run"):
            answer = ask(filled, "operator", page, token=token, **dict.fromkeys(NAMES, value))
            assert answer.status_code < 500, (page, value, answer.text[-600:])


def test_a_form_that_is_none_or_too_long_is_refused(filled: Console) -> None:
    client = filled.visitor("operator")
    kinds = {"content-type": "application/x-www-form-urlencoded"}
    for body, headers, status in (
        (b"a=" + b"x" * (1 << 20), kinds, 413),
        (b"a=\xff\xfe", kinds, 400),
        (b"a=%ff", kinds, 400),
        (b"&".join(b"a=1" for _ in range(3000)), kinds, 400),
        (b'{"token": "x"}', {"content-type": "application/json"}, 415),
    ):
        assert client.post("/flush", content=body, headers=headers).status_code == status, body[:40]


def test_every_entry_of_the_navigation_opens(filled: Console) -> None:
    shown = {role: filled.get("/", who=role).text for role in ORDER}
    for link in NAVIGATION:
        for role in ORDER:
            assert (f'<a href="{link.path}"' in shown[role].split("</nav>")[0]) is may(role, link.role), (role, link)
            assert filled.get(link.path, who=role).status_code == (200 if may(role, link.role) else 403), (role, link)
