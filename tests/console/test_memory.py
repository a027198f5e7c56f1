"""One memory in the console: all that the shell tells of it, and what a person may do to it, in their name."""

import re
from uuid import UUID

import pytest
from playwright.sync_api import Page
from sqlalchemy import Engine

from tests.console.conftest import TENANT, Console, log_in
from tests.support.installation import NOW, ago
from tests.support.reviewing import DAY, Dispute

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
        f"/inbox/c{conflict}",
        f"/inbox/q{item}",
        "another employer",
    ):
        assert told in page
    assert "Actions" not in page, "a viewer changes nothing"
    assert "/forget?kind=memory" not in console.get(f"/memories/{globex}", who="curator").text
    assert f"/forget?kind=memory&amp;memory={globex}" in console.get(f"/memories/{globex}", who="operator").text


def test_use_is_told_with_its_effect(console: Console, dispute: Dispute) -> None:
    globex = dispute.memory("Maya works at Globex.", days=2)
    assert "importance 0." not in console.get(f"/memories/{globex}").text
    dispute.sql(
        "INSERT INTO slowwave.memory_uses (memory_id, session_id, shown_at) SELECT :id, s.id, now()"
        " FROM slowwave.sessions s LIMIT 1",
        id=globex,
    )
    dispute.sql("UPDATE slowwave.memories SET importance = 0.5, use_gain = -0.1 WHERE id = :id", id=globex)
    told = "shown in 1 conversation, used in 0 conversations: importance 0.50 → 0.40"
    assert told in console.get(f"/memories/{globex}").text


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
    assert "It no longer holds" in page


def test_history_says_what_changed_in_sentences(console: Console, dispute: Dispute) -> None:
    acme, globex = dispute.memory("Maya works at Acme.", days=9), dispute.memory("Maya works at Globex.", days=2)
    _, item = dispute.conflict(globex, acme)
    page = console.get(f"/inbox/q{item}", who="curator").text
    (seen,) = re.findall(r'name="seen" value="([^"]+)"', page)
    console.post(f"/inbox/q{item}/answer", who="curator", answer="later", seen=seen)
    page = console.get(f"/memories/{acme}").text
    assert "employer: Acme → Globex on 3 March 2026" in page
    assert "valid_to" not in page


def test_other_words_are_a_run_in_the_persons_name(console: Console, dispute: Dispute) -> None:
    typo = dispute.memory("Maya works at Acmee.")
    answer = console.post(f"/memories/{typo}/edit", who="curator", words="Maya works at Acme.", revision="0")
    new = UUID(answer.headers["location"].removeprefix("/memories/"))
    assert dispute.row(new).content == "Maya works at Acme."
    assert dispute.status(typo) == ("archived", "edited by hand")
    authors = dispute.sql("SELECT DISTINCT made_by FROM slowwave.memory_changes")
    assert [row.made_by for row in authors] == ["curator"]
    page = console.get(f"/memories/{new}", who="curator").text
    (run,) = re.findall(r'action="/runs/(\d+)/undo"', page)
    assert "/undo" not in console.get(f"/memories/{new}", who="curator").text, "the bar is shown once"
    assert console.post(f"/runs/{run}/undo", who="curator").status_code == 303, "a curator undoes their own edit"
    assert dispute.status(typo) == ("inbox", None)


def test_mistake_26_a_later_change_is_told_and_what_was_typed_is_kept(console: Console, dispute: Dispute) -> None:
    memory = dispute.memory("Maya lives in Oslo.")
    seen = revision(console, memory)
    dispute.sql("UPDATE slowwave.memories SET revision = 1, content = 'Maya lives in Rome.' WHERE id = :id", id=memory)
    answer = console.post(f"/memories/{memory}/edit", who="curator", words="Maya lives in Bergen.", revision=seen)
    assert answer.status_code == 409
    assert "Nothing was changed: this memory has changed since you read it" in answer.text
    assert ">Maya lives in Bergen.</textarea>" in answer.text
    assert "<h1>Maya lives in Rome.</h1>" in answer.text
    assert console.post(f"/memories/{memory}/archive", who="curator", revision=seen).status_code == 409
    assert dispute.row(memory).content == "Maya lives in Rome."
    assert dispute.status(memory) == ("inbox", None)


def test_a_refusal_stands_beside_the_form(console: Console, dispute: Dispute) -> None:
    memory = dispute.memory("Maya lives in Oslo.")
    for words, said in (("", "say what is to be remembered"), ("Maya lives in Oslo.", "says just that")):
        answer = console.post(f"/memories/{memory}/edit", who="curator", words=words, revision="0")
        assert answer.status_code == 409
        assert said in answer.text
        assert "New text" in answer.text
    assert console.post(f"/memories/{memory}/edit", who="curator", words="x", revision="²").status_code == 409


def test_i8_a_memory_of_another_tenant_is_neither_shown_nor_changed(console: Console, engine: Engine) -> None:
    other = Dispute(engine, tenant="globex")
    memory = other.memory("Priya keeps bees.")
    assert console.get(f"/memories/{memory}").status_code == 404
    for path, form in (("edit", {"words": "x", "revision": "0"}), ("archive", {"revision": "0"})):
        assert console.post(f"/memories/{memory}/{path}", **form).status_code == 404
    assert other.row(memory).revision == 0


def test_a_memory_is_archived_in_the_browser(page: Page, dispute: Dispute) -> None:
    memory = dispute.memory("Maya lives in Oslo.")
    log_in(page, "curator")
    page.goto("/memories")
    page.get_by_role("link", name="Maya lives in Oslo.").click()
    page.locator("summary", has_text="Archive").click()
    page.get_by_role("button", name="Archive it").click()
    page.get_by_role("status").get_by_text("The memory is archived").wait_for()
    assert dispute.status(memory) == ("archived", "removed by hand")
