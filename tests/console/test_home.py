"""Home asks for work before it says that all is well, follows changes by itself, and shows figures over time."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import text

from slowwave_server.services.dead_letters.store import store_dead_letter
from slowwave_server.services.samples import take_samples
from tests.console.conftest import TENANT, Console, log_in
from tests.support.installation import Installation

pytestmark = [pytest.mark.servers]


def put_letter(console: Console) -> None:
    with console.engine.begin() as connection:
        now = datetime.now(UTC)
        store_dead_letter(connection, task="slowwave.capture", tenant=TENANT, payload={}, error="bad", now=now)


def put_question(console: Console) -> None:
    made = Installation(console.engine)
    scope = made.scope("maya", tenant=TENANT)
    memory = made.memory(scope, "The boat is called Tern.", [], status="review")
    with console.engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO slowwave.review_items (scope_id, memory_id, why, tier, expires_at)"
                " VALUES (:scope, :memory, 'it is new', 'high', now() + interval '1 day')"
            ),
            {"scope": scope, "memory": memory},
        )


def test_home_is_never_well_while_an_item_waits(console: Console) -> None:
    put_question(console)
    page = console.get("/live/home").text
    assert "All is well" not in page
    assert "1 open item in the inbox" in page
    assert 'href="/inbox"' in page


def test_home_shows_charts_of_this_tenant_once_samples_exist(console: Console) -> None:
    Installation(console.engine).agent("maya", tenant=TENANT)
    assert "There are no figures for this range yet." in console.get("/").text
    take_samples(console.engine, datetime.now(UTC))
    for address in ("/", "/?range=week", "/live/charts?range=quarter"):
        page = console.get(address).text
        assert page.count("data-plot=") == 6, address
        assert "Time to memory" in page
    assert "There are no figures" in console.get("/", who="stranger").text


def test_counts_of_the_sidebar_are_of_this_tenant(console: Console) -> None:
    put_letter(console)
    put_question(console)
    page = console.get("/live/badges").text
    assert page.count(", 1 open") == 2
    assert "open" not in console.get("/live/badges", who="stranger").text


@pytest.mark.long
def test_an_open_home_shows_a_change_within_five_seconds(console: Console, page: Page) -> None:
    log_in(page, "curator")
    summary = page.locator("summary", has_text="Queues and workers")
    summary.click()
    summary.focus()
    put_question(console)
    page.get_by_text("1 open item in the inbox").wait_for(timeout=5_000)
    expect(page.locator("#count-inbox")).to_contain_text("1", timeout=5_000)
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY", "the focus stays"
    assert page.locator("details[open]").count() == 1, "what was opened stays open"


@pytest.mark.long
def test_home_shows_what_only_the_doctor_sees_in_five_seconds(console: Console, page: Page) -> None:
    log_in(page, "curator")
    shown = page.locator("#home time").first
    before = shown.get_attribute("datetime")
    expect(shown).not_to_have_attribute("datetime", before or "", timeout=10_000)
    with console.engine.begin() as connection:  # right after a check: the next one is as far away as it can be
        connection.execute(text("UPDATE slowwave.maintenance_jobs SET next_due_at = now() - interval '1 day'"))
    page.locator("#home").get_by_role("link", name="Open jobs").wait_for(timeout=5_000)


@pytest.mark.long
def test_charts_are_drawn_under_the_strict_content_policy(console: Console, page: Page) -> None:
    Installation(console.engine).agent("maya", tenant=TENANT)
    take_samples(console.engine, datetime.now(UTC))
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    log_in(page, "viewer")
    page.locator("[data-plot] canvas").first.wait_for()
    assert page.locator("[data-plot] canvas").count() == 6
    assert said == []
