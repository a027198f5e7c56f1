"""Search over agents, memories and pages: by the keyboard alone, and without scripts."""

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import Cast, cast
from sqlalchemy.dialects.postgresql import TSVECTOR

from tests.console.conftest import TENANT, Console, log_in
from tests.support.installation import Installation

pytestmark = [pytest.mark.servers]


@pytest.fixture
def told(console: Console) -> Console:
    made = Installation(console.engine)
    for tenant, words in ((TENANT, "The boat is called Tern."), ("globex", "The boat is called Petrel.")):
        made.agent("skipper", tenant=tenant)
        scope = made.scope("skipper", tenant=tenant)
        made.memory(scope, words, [], search=lexemes(scope))
    room = made.scope("skipper", tenant=TENANT, kind="room")
    made.memory(room, "An old boat.", [], status="archived", search=lexemes(room))
    return console


def lexemes(scope: int) -> Cast[str]:
    """The search column of a memory that says "boat": lexemes carry their scope, and the weight of its own text."""
    return cast(f"'{scope}:boat':1A", TSVECTOR)


def test_search_finds_agents_memories_and_pages(told: Console) -> None:
    assert "The boat is called Tern." in told.get("/find?q=boa").text
    assert "/agent?agent=skipper" in told.get("/find?q=SKIP").text
    assert 'href="/jobs"' in told.get("/find?q=job").text
    assert "An old boat" not in told.get("/find?q=boat").text
    assert "No agent, memory or page" in told.get("/find?q=zeppelin").text


def test_search_finds_nothing_of_another_tenant(told: Console) -> None:
    assert "Petrel" not in told.get("/find?q=boat").text
    assert "Petrel" in told.get("/find?q=boat", who="stranger").text


def test_search_shows_pages_to_those_who_may_open_them(told: Console) -> None:
    assert 'href="/audit"' not in told.get("/find?q=audit").text.split("<main")[1]
    assert 'href="/audit"' in told.get("/find?q=audit", who="operator").text.split("<main")[1]


@pytest.mark.long
def test_ctrl_k_leads_to_a_memory_by_keyboard_alone(told: Console, page: Page) -> None:
    log_in(page, "viewer")
    page.keyboard.press("Control+k")
    page.locator("#finder-words:focus").wait_for()
    page.keyboard.type("boat")
    expect(page.locator("#found [aria-selected=true]")).to_contain_text("Tern")
    page.keyboard.press("Enter")
    page.wait_for_url("**/memories/*")
    page.keyboard.press("g")
    page.keyboard.press("j")
    page.wait_for_url("**/jobs")


@pytest.mark.long
def test_single_keys_can_be_switched_off(told: Console, page: Page) -> None:
    log_in(page, "viewer")
    page.goto("/account")
    page.get_by_label("keys without Ctrl").uncheck()
    page.goto("/agents")
    page.keyboard.press("?")
    page.keyboard.press("Control+k")
    page.locator("#finder-words:focus").wait_for()
    assert not page.locator("#keys").is_visible()


@pytest.mark.long
def test_search_works_without_scripts(told: Console, served: str, browser: Browser) -> None:
    context = browser.new_context(base_url=served, java_script_enabled=False)
    page = context.new_page()
    log_in(page, "viewer")
    page.get_by_role("link", name="Search").click()
    page.get_by_label("Words").fill("boat")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="The boat is called Tern.").click()
    page.wait_for_url("**/memories/*")
    context.close()
