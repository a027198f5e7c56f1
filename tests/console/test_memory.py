"""One memory in the console: all that the shell tells of it, and what a person may do to it, in their name."""

import re
from uuid import UUID

import pytest
from playwright.sync_api import Page
from sqlalchemy import Engine

from tests.console.conftest import TENANT, Console, log_in
from tests.installation import NOW, ago
from tests.reviewing import DAY, Dispute

pytestmark = pytest.mark.servers


@pytest.fixture
def dispute(engine: Engine) -> Dispute:
    return Dispute(engine, tenant=TENANT)


def revision(console: Console, memory: UUID) -> str:
    found = re.search(r'name="revision" value="(\d+)"', console.get(f"/memories/{memory}", who="curator").text)
    assert found is not None
    return found[1]


def test_a_life_says_where_it_comes_from_and_what_it_touches(console: Console, dispute: Dispute) -> None:
    acme, globex = dispute.memory("Maya works at Acme.", days=9), dispute.memory("Maya works at Globex.", days=2)
    conflict, item = dispute.conflict(globex, acme)
    dispute.past.change(globex, "created", "states a job, names an employer", made_at=NOW)
    page = console.get(f"/memories/{globex}").text
    for told in (
        "Maya works at Globex.",
        "line 1",
        "monday#2",
        f"/conflicts/{conflict}",
        f"/review/{item}",
        "another employer",
    ):
        assert told in page
    assert "Say it in other words" not in page, "a viewer changes nothing"
    assert "/forget?kind=memory" not in console.get(f"/memories/{globex}", who="curator").text
    assert f"/forget?kind=memory&amp;memory={globex}" in console.get(f"/memories/{globex}", who="operator").text


def test_a_chain_is_drawn_and_said(console: Console, dispute: Dispute) -> None:
    acme = dispute.memory("Maya works at Acme.", days=9)
    globex = dispute.memory("Maya works at Globex.", days=2)
    dispute.sql(
        "UPDATE slowwave.memories SET superseded_by = :new, valid_to = :at WHERE id = :old",
        new=globex, at=ago(2 * DAY), old=acme,
    )  # fmt: skip
    page = console.get(f"/memories/{acme}", who="curator").text
    assert "<svg" in page
    assert 'class="arrow"' in page
    assert page.count("Maya works at Globex.") >= 3
    assert "It holds no more" in page


def test_other_words_are_a_run_in_the_persons_name(console: Console, dispute: Dispute) -> None:
    typo = dispute.memory("Maya works at Acmee.")
    answer = console.post(f"/memories/{typo}/correct", who="curator", words="Maya works at Acme.", revision="0")
    new = UUID(answer.headers["location"].removeprefix("/memories/"))
    assert dispute.row(new).content == "Maya works at Acme."
    assert dispute.status(typo) == ("archived", "edited by hand")
    authors = dispute.sql("SELECT DISTINCT made_by FROM slowwave.memory_changes")
    assert [row.made_by for row in authors] == ["curator"]
    page = console.get(f"/memories/{new}", who="curator").text
    assert "can be undone" in page
    assert "can be undone" not in console.get(f"/memories/{new}", who="curator").text, "it is said once"


def test_mistake_26_a_later_change_is_told_and_what_was_typed_is_kept(console: Console, dispute: Dispute) -> None:
    memory = dispute.memory("Maya lives in Oslo.")
    seen = revision(console, memory)
    dispute.sql("UPDATE slowwave.memories SET revision = 1, content = 'Maya lives in Rome.' WHERE id = :id", id=memory)
    answer = console.post(f"/memories/{memory}/correct", who="curator", words="Maya lives in Bergen.", revision=seen)
    assert answer.status_code == 409
    assert "Nothing was changed: this memory was changed after you had looked at it" in answer.text
    assert ">Maya lives in Bergen.</textarea>" in answer.text
    assert "<h1>Maya lives in Rome.</h1>" in answer.text
    assert console.post(f"/memories/{memory}/archive", who="curator", revision=seen).status_code == 409
    assert dispute.row(memory).content == "Maya lives in Rome."
    assert dispute.status(memory) == ("inbox", None)


def test_a_refusal_stands_beside_the_form(console: Console, dispute: Dispute) -> None:
    memory = dispute.memory("Maya lives in Oslo.")
    for words, said in (("", "say what is to be remembered"), ("Maya lives in Oslo.", "says just that")):
        answer = console.post(f"/memories/{memory}/correct", who="curator", words=words, revision="0")
        assert answer.status_code == 409
        assert said in answer.text
        assert "What it should say" in answer.text
    assert console.post(f"/memories/{memory}/correct", who="curator", words="x", revision="²").status_code == 409


def test_i8_a_memory_of_another_tenant_is_neither_shown_nor_changed(console: Console, engine: Engine) -> None:
    other = Dispute(engine, tenant="globex")
    memory = other.memory("Priya keeps bees.")
    assert console.get(f"/memories/{memory}").status_code == 404
    for path, form in (("correct", {"words": "x", "revision": "0"}), ("archive", {"revision": "0"})):
        assert console.post(f"/memories/{memory}/{path}", **form).status_code == 404
    assert other.row(memory).revision == 0


def test_a_memory_is_archived_in_the_browser(page: Page, dispute: Dispute) -> None:
    memory = dispute.memory("Maya lives in Oslo.")
    log_in(page, "curator")
    page.goto("/memories")
    page.get_by_role("link", name="Maya lives in Oslo.").click()
    page.get_by_text("Take it out of answers").click()
    page.get_by_role("button", name="Archive it").click()
    page.get_by_role("status").get_by_text("It is archived").wait_for()
    assert dispute.status(memory) == ("archived", "removed by hand")
