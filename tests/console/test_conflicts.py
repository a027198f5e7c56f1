"""Conflicts in the console: both sides, every answer, in the person's name, about what the person saw."""

import re
from uuid import UUID

import pytest
from playwright.sync_api import Page
from sqlalchemy import Engine

from slowwave import Memory
from tests.console.conftest import TENANT, Console, log_in
from tests.support.reviewing import Dispute

pytestmark = pytest.mark.servers


@pytest.fixture
def dispute(engine: Engine) -> Dispute:
    return Dispute(engine, tenant=TENANT)


@pytest.fixture
def sides(dispute: Dispute) -> tuple[UUID, UUID]:
    return dispute.memory("Maya works at Globex.", days=2), dispute.memory("Maya works at Acme.", days=9)


def seen(console: Console, conflict: int) -> str:
    found = re.search(r'name="seen" value="([^"]+)"', console.get(f"/conflicts/{conflict}", who="curator").text)
    assert found is not None
    return found[1]


def decide(console: Console, conflict: int, answer: str, given: str | None = None) -> tuple[int, str]:
    """The status of the answer, and the page that the person sees after it."""
    given = seen(console, conflict) if given is None else given
    sent = console.post(f"/conflicts/{conflict}/decide", who="curator", answer=answer, seen=given)
    if sent.status_code == 303:
        return 303, console.get(sent.headers["location"], who="curator").text
    return sent.status_code, sent.text


ANSWERS = {
    "keep:newer": ("inbox", "inbox", "resolved"),
    "keep:older": ("rejected", "inbox", "resolved"),
    "both": ("inbox", "inbox", "dismissed"),
    "same": ("inbox", "merged", "resolved"),
    "neither": ("rejected", "rejected", "resolved"),
}


def test_every_answer_does_what_it_says(console: Console, dispute: Dispute) -> None:
    for number, (answer, (newer, older, state)) in enumerate(ANSWERS.items()):
        sides = dispute.memory(f"Maya has {number} cats.", days=2), dispute.memory(f"Maya has {number} dogs.", days=9)
        conflict, _ = dispute.conflict(*sides)
        chosen = answer.replace("newer", str(sides[0])).replace("older", str(sides[1]))
        assert f'value="{chosen}"' in console.get(f"/conflicts/{conflict}", who="curator").text
        status, page = decide(console, conflict, chosen)
        assert status == 303
        assert "can be undone" in page
        assert dispute.state(conflict)[0] == state
        became = [dispute.status(side) for side in sides]
        assert [reason or status for status, reason in became] == [newer, older]
    authors = dispute.sql("SELECT DISTINCT decided_by FROM slowwave.memory_conflicts")
    assert [row.decided_by for row in authors] == ["curator"]


def test_mistake_26_a_later_change_is_told_and_the_choice_is_kept(
    console: Console, dispute: Dispute, sides: tuple[UUID, UUID]
) -> None:
    conflict, _ = dispute.conflict(*sides)
    stale = seen(console, conflict)
    dispute.sql("UPDATE slowwave.memories SET revision = 7 WHERE id = :id", id=sides[0])
    status, page = decide(console, conflict, "neither", stale)
    assert status == 409
    assert "was changed after you had looked at it" in page
    assert re.search(r'value="neither"[^>]* checked', page)
    assert dispute.state(conflict)[0] == "open"
    assert decide(console, conflict, "neither", re.findall(r'name="seen" value="([^"]+)"', page)[0])[0] == 303
    status, page = decide(console, conflict, "both", "")
    assert (status, "resolved already by curator" in page) == (409, True), "the second of two is told"


def test_answers_that_the_form_does_not_have_change_nothing(
    console: Console, dispute: Dispute, sides: tuple[UUID, UUID]
) -> None:
    conflict, _ = dispute.conflict(*sides)
    for answer in ("", "keep", "keep:x", f"keep:{UUID(int=1)}", "lapse", "accept"):
        assert decide(console, conflict, answer)[0] == 409
    assert decide(console, conflict, "both", "not:a:pair")[0] == 409
    assert dispute.state(conflict)[0] == "open"


def test_conflicts_are_listed_and_read_on(console: Console, dispute: Dispute) -> None:
    numbers = [
        dispute.conflict(dispute.memory(f"Maya has {n} cats."), dispute.memory(f"Maya has {n} dogs."))[0]
        for n in range(3)
    ] + [dispute.register(dispute.memory(f"{n} is odd."), dispute.memory(f"{n} is even.")) for n in range(1)]
    page = console.get("/conflicts?agent=maya").text
    assert re.findall(r'href="/conflicts/(\d+)"', page) == [str(number) for number in sorted(numbers, reverse=True)]
    assert "Maya has 2 cats." in page
    assert re.findall(r'href="/conflicts/(\d+)"', console.get(f"/conflicts?before={numbers[1]}").text) == [
        str(numbers[0])
    ]
    assert "There are no such conflicts" in console.get("/conflicts?status=dismissed").text
    assert "There are no such conflicts" in console.get("/conflicts?scope=room:lobby").text
    assert console.get("/conflicts?status=strange").status_code == 400


def test_i8_a_conflict_of_another_tenant_is_neither_shown_nor_decided(console: Console, engine: Engine) -> None:
    other = Dispute(engine, tenant="globex")
    conflict, item = other.conflict(other.memory("Jonas is tall."), other.memory("Jonas is small."))
    assert console.get(f"/conflicts/{conflict}").status_code == 404
    assert console.get(f"/review/{item}").status_code == 404
    assert console.post(f"/conflicts/{conflict}/decide", answer="both", seen="").status_code == 404
    assert console.post(f"/review/{item}/decide", answer="accept", seen="").status_code == 404
    assert other.state(conflict)[0] == "open"


def test_a_conflict_decided_in_the_browser_changes_what_an_agent_is_told_and_undo_brings_it_back(
    page: Page, console: Console, dispute: Dispute, sides: tuple[UUID, UUID]
) -> None:
    conflict, _ = dispute.conflict(*sides)
    dispute.sql("UPDATE slowwave.memories SET status = 'active'")

    def told() -> set[str]:
        with Memory(console.settings) as memory:
            text = memory.context("maya").to_text()
        return {content for content in ("Maya works at Globex.", "Maya works at Acme.") if content in text}

    before = told()
    assert before == {"Maya works at Globex.", "Maya works at Acme."}
    log_in(page, "operator")
    page.goto("/conflicts")
    page.get_by_role("link", name=f"Conflict {conflict}").click()
    page.get_by_label("Keep older: the earlier statement holds", exact=True).check()
    page.get_by_role("button", name="Decide").click()
    page.get_by_role("status").get_by_text("can be undone").wait_for()
    assert told() == {"Maya works at Acme."}

    run = dispute.one("SELECT max(id) AS id FROM slowwave.maintenance_runs").id
    page.goto(f"/runs/{run}")
    page.get_by_text("Undo this run").click()
    page.get_by_role("button", name=f"Undo run {run}").click()
    page.get_by_role("status").wait_for()
    assert told() == before
    by = dispute.one("SELECT started_by FROM slowwave.maintenance_runs WHERE undoes = :run", run=run).started_by
    assert by == "operator"
