"""Forgetting in the browser's form: what would go is shown, the name is typed, and nothing comes back (I10)."""

import pytest
from playwright.sync_api import Page

from slowwave_server.services.forget.receipts import receipts
from tests.console.conftest import TENANT, Console, log_in

pytestmark = pytest.mark.servers

SAID = "I moved to Lisbon last week."


@pytest.fixture
def said(console: Console) -> Console:
    for session in ("monday", "tuesday"):
        console.memory.turn_completed("maya", session, [{"role": "user", "content": SAID}])
    console.memory.turn_completed("jonas", "monday", [{"role": "user", "content": SAID}], scope="room:kitchen")
    console.memory.flush()
    return console


def knows(console: Console, agent: str, scope: str | None = None) -> bool:
    return "Lisbon" in console.memory.context(agent, scopes=[scope] if scope else []).to_text()


def test_what_would_go_is_shown_and_nothing_is_changed_before_the_name_is_typed(said: Console) -> None:
    shown = said.post("/forget/preview", kind="agent", agent="maya").text
    for words in ("Agent &#39;maya&#39; would be forgotten", "sessions: 2", "monday", "tuesday", "<code>maya</code>"):
        assert words in shown, words
    for typed in ("", "Maya", "jonas"):
        refused = said.post("/forget", kind="agent", agent="maya", confirm=typed)
        assert (refused.status_code, "Nothing was forgotten" in refused.text) == (400, True)
    assert knows(said, "maya")
    with said.engine.connect() as connection:
        assert receipts(connection, TENANT, limit=5) == []


@pytest.mark.parametrize(
    ("fields", "typed", "left"),
    [
        ({"kind": "agent", "agent": "maya"}, "maya", (False, True)),
        ({"kind": "scope", "scope": "room:kitchen"}, "room:kitchen", (True, False)),
        ({"kind": "scope", "scope": "agent:maya"}, "agent:maya", (False, True)),
        ({"kind": "session", "agent": "maya", "session": "monday"}, "monday", (True, True)),
    ],
)
def test_i10_what_is_forgotten_is_gone_with_a_receipt_in_the_person_s_name(
    said: Console, fields: dict[str, str], typed: str, left: tuple[bool, bool]
) -> None:
    assert said.post("/forget", confirm=typed, **fields).status_code == 303
    shown = said.get("/forget", who="operator").text
    assert "is forgotten, receipt " in shown
    assert "<td>operator</td>" in shown
    assert (knows(said, "maya"), knows(said, "jonas", "room:kitchen")) == left
    with said.engine.connect() as connection:
        (receipt,) = receipts(connection, TENANT, limit=5)
    assert (receipt.by, receipt.counts["events"]) == ("operator", 1 if left[0] else 2)


def test_i8_nobody_forgets_what_is_another_tenant_s(said: Console) -> None:
    for fields in ({"kind": "agent", "agent": "maya"}, {"kind": "scope", "scope": "room:kitchen"}):
        assert said.post("/forget/preview", who="stranger", **fields).status_code == 404
        name = fields.get("agent") or fields["scope"]
        assert said.post("/forget", who="stranger", confirm=name, **fields).status_code == 404
    assert (knows(said, "maya"), knows(said, "jonas", "room:kitchen")) == (True, True)


def test_what_can_t_be_forgotten_is_said(console: Console) -> None:
    console.memory.turn_completed("maya", "monday", [{"role": "user", "content": SAID}])
    asked: list[tuple[dict[str, str], int]] = [
        ({}, 400),
        ({"kind": "everything"}, 400),
        ({"kind": "agent"}, 400),
        ({"kind": "agent", "agent": "mayo"}, 404),
        ({"kind": "session", "agent": "maya", "session": "sunday"}, 404),
        ({"kind": "scope", "scope": "kitchen"}, 400),
        ({"kind": "memory", "memory": "first"}, 400),
        ({"kind": "memory", "memory": "00000000-0000-0000-0000-000000000000"}, 404),
    ]
    for fields, status in asked:
        assert console.post("/forget/preview", **fields).status_code == status, fields
        assert console.post("/forget", **fields).status_code in {status, 400}, fields
    assert "Lisbon" in console.memory.context("maya").to_text()


@pytest.mark.long
def test_i10_an_agent_is_forgotten_in_the_browser(said: Console, page: Page) -> None:
    log_in(page, "operator")
    page.goto("/forget?kind=agent&agent=maya")
    page.get_by_role("button", name="Show what would go").click()
    page.get_by_role("heading", name="Agent 'maya' would be forgotten").wait_for()
    page.get_by_label("Type maya to forget it").fill("maya")
    page.get_by_role("button", name="Forget it").click()
    page.get_by_text("Agent 'maya' is forgotten, receipt").wait_for()
    assert not knows(said, "maya")
