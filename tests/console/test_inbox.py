"""The inbox: one list of questions and contradictions, each answered in the person's name, about what they saw."""

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine

from slowwave import Memory
from tests.console.conftest import TENANT, Console, token_of
from tests.support.installation import NOW
from tests.support.reviewing import Dispute

pytestmark = pytest.mark.servers


@pytest.fixture
def dispute(engine: Engine) -> Dispute:
    return Dispute(engine, tenant=TENANT)


@pytest.fixture
def sides(dispute: Dispute) -> tuple[UUID, UUID]:
    return dispute.memory("Maya works at Globex.", days=2), dispute.memory("Maya works at Acme.", days=9)


def claim_in_review(dispute: Dispute, number: int = 0) -> tuple[UUID, UUID, int]:
    """What an assistant claimed, what Maya said, and the number of the question."""
    said = dispute.memory(f"Maya has {number} cats.", days=9)
    claimed = dispute.memory(f"Maya has no {number} cats.", trust="assistant", status="episode", days=2)
    return claimed, said, dispute.in_review(claimed, said)[1]


def seen_on(page: str) -> list[str]:
    return re.findall(r'name="seen" value="([^"]+)"', page)


def answer(console: Console, key: str, word: str, seen: str | None = None, query: str = "", **more: str) -> Any:
    """The response to an answer; seen: as another page had it."""
    given = seen_on(console.get(f"/inbox/{key}", who="curator").text)[0] if seen is None else seen
    return console.post(f"/inbox/{key}/answer{query}", who="curator", answer=word, seen=given, **more)


ANSWERS = {
    "later": ("inbox", "inbox", "resolved"),
    "earlier": ("rejected", "inbox", "resolved"),
    "both": ("inbox", "inbox", "dismissed"),
    "same": ("inbox", "merged", "resolved"),
    "neither": ("rejected", "rejected", "resolved"),
}


@pytest.mark.parametrize("asked", [True, False], ids=["question", "contradiction alone"])
def test_each_of_five_answers_does_what_it_says(console: Console, dispute: Dispute, *, asked: bool) -> None:
    for number, (word, (newer, older, state)) in enumerate(ANSWERS.items()):
        sides = dispute.memory(f"Maya has {number} cats.", days=2), dispute.memory(f"Maya has {number} dogs.", days=9)
        conflict, item = dispute.conflict(*sides) if asked else (dispute.register(*sides), None)
        assert conflict is not None
        key = f"q{item}" if asked else f"c{conflict}"
        page = console.get(f"/inbox/{key}", who="curator").text
        assert re.findall(r'name="answer" value="(\w+)" data-key="(\d)"', page) == [
            (name, str(place)) for place, name in enumerate(ANSWERS, 1)
        ]
        assert answer(console, key, word).status_code == 303
        assert dispute.state(conflict)[0] == state
        became = [dispute.status(side) for side in sides]
        assert [reason or status for status, reason in became] == [newer, older]
        assert f"Answered: {dispute.state(conflict)[1]}".split("“")[0] in console.get(f"/inbox/{key}").text
    authors = dispute.sql("SELECT DISTINCT decided_by FROM slowwave.memory_conflicts")
    assert [row.decided_by for row in authors] == ["curator"]


def test_claim_against_one_statement_has_five_answers(console: Console, dispute: Dispute) -> None:
    became = {
        "later": ("episode", None),
        "earlier": ("archived", "rejected"),
        "both": ("episode", None),
        "same": ("archived", "merged"),
        "neither": ("archived", "rejected"),
    }
    for number, (word, status) in enumerate(became.items()):
        claimed, _, item = claim_in_review(dispute, number)
        assert answer(console, f"q{item}", word).status_code == 303
        assert dispute.status(claimed) == status, word
        assert (dispute.item(item).state != "open", dispute.item(item).decided_by) == (True, "curator")


def test_claim_against_two_statements_is_kept_or_archived(console: Console, dispute: Dispute) -> None:
    for word, status in {"keep": ("episode", None), "archive": ("archived", "rejected")}.items():
        claimed, said, item = claim_in_review(dispute, len(word))
        dispute.register(claimed, dispute.memory(f"Maya keeps {word} birds.", days=5))
        page = console.get(f"/inbox/q{item}", who="curator").text
        assert re.findall(r'name="answer" value="(\w+)"', page) == ["keep", "archive", "same"]
        assert f'<option value="{said}"' in page
        assert answer(console, f"q{item}", word).status_code == 303
        assert dispute.status(claimed) == status


def test_item_shows_both_statements_with_surrounding_turns(
    console: Console, dispute: Dispute, sides: tuple[UUID, UUID]
) -> None:
    _, item = dispute.conflict(*sides)
    page = console.get(f"/inbox/q{item}", who="curator").text
    for text in ("Maya works at Globex.", "Maya works at Acme.", "another employer", "Later statement", "line 0"):
        assert text in page
    assert re.search(r'href="/session\?agent=maya&amp;session=monday&amp;at=1#e1"', page)
    assert page.count('class="snippet-source"') == 2
    assert page.count('class="snippet-near"') >= 4
    assert 'name="answer"' not in console.get(f"/inbox/q{item}").text, "a viewer decides nothing"


def test_next_item_opens_after_an_answer(console: Console, dispute: Dispute) -> None:
    items = []
    for number in range(3):
        newer, older = dispute.memory(f"Maya has {number} cats."), dispute.memory(f"Maya has {number} dogs.")
        items.append(dispute.conflict(newer, older, now=NOW + timedelta(minutes=number))[1])
    page = console.get(f"/inbox/q{items[0]}", who="curator").text
    assert ">1 of 3</label>" in page
    sent = answer(console, f"q{items[0]}", "both", query="?place=1&of=3")
    assert sent.headers["location"] == f"/inbox/q{items[1]}?place=2&of=3"
    page = console.get(sent.headers["location"], who="curator").text
    assert ">2 of 3</label>" in page
    assert "Answered: both hold." in page
    run = re.findall(r'action="/runs/(\d+)/undo"', page)
    assert len(run) == 1
    skip = re.findall(r'href="(/inbox/[^"]+)"[^>]*>(?:<kbd[^>]*>6</kbd>) Skip', page)
    assert skip == [f"/inbox/q{items[2]}?place=3&amp;of=3"]
    sent = answer(console, f"q{items[2]}", "both", query="?place=3&of=3")
    assert sent.headers["location"].startswith(f"/inbox/q{items[1]}?"), "what was skipped comes again"
    assert answer(console, f"q{items[1]}", "both").headers["location"] == "/inbox"
    assert "Nothing waits for you" in console.get("/inbox", who="curator").text


def test_curator_undoes_their_own_answer(console: Console, dispute: Dispute, sides: tuple[UUID, UUID]) -> None:
    dispute.sql("UPDATE slowwave.memories SET status = 'active'")
    conflict, item = dispute.conflict(*sides)
    with Memory(console.settings) as memory:
        before = memory.context("maya").to_text()
        sent = answer(console, f"q{item}", "later")
        assert memory.context("maya").to_text() != before
        page = console.get(sent.headers["location"], who="curator").text
        (run,) = re.findall(r'action="/runs/(\d+)/undo"', page)
        undone = console.post(f"/runs/{run}/undo", who="curator")
        assert undone.headers["location"] == f"/inbox/q{item}", "it is asked again"
        assert dispute.state(conflict)[0] == "open"
        assert memory.context("maya").to_text() == before


def test_curator_undoes_no_run_of_somebody_else(console: Console, dispute: Dispute, sides: tuple[UUID, UUID]) -> None:
    conflict, item = dispute.conflict(*sides)
    console.post(
        f"/inbox/q{item}/answer", who="operator", answer="both",
        seen=seen_on(console.get(f"/inbox/q{item}", who="operator").text)[0],
    )  # fmt: skip
    runs = dispute.sql("SELECT id FROM slowwave.maintenance_runs ORDER BY id")
    for run in runs:
        refused = console.post(f"/runs/{run.id}/undo", who="curator")
        assert (refused.status_code, "only their own answers" in refused.text) == (403, True)
    assert dispute.state(conflict)[0] == "dismissed"


def test_changed_memory_refuses_the_answer(console: Console, dispute: Dispute, sides: tuple[UUID, UUID]) -> None:
    conflict, item = dispute.conflict(*sides)
    (stale,) = seen_on(console.get(f"/inbox/q{item}", who="curator").text)
    dispute.sql("UPDATE slowwave.memories SET revision = 7 WHERE id = :id", id=sides[0])
    sent = answer(console, f"q{item}", "neither", stale)
    assert (sent.status_code, "has changed since you read it" in sent.text) == (409, True)
    assert dispute.state(conflict)[0] == "open"
    assert answer(console, f"q{item}", "neither", seen_on(sent.text)[0]).status_code == 303
    sent = answer(console, f"q{item}", "both", "")
    assert (sent.status_code, "was answered before" in sent.text) == (409, True), "the second of two is told"


def test_unknown_answer_changes_nothing(console: Console, dispute: Dispute, sides: tuple[UUID, UUID]) -> None:
    conflict, item = dispute.conflict(*sides)
    for word in ("", "keep", "x", f"{UUID(int=1)}", "lapse", "accept"):
        assert answer(console, f"q{item}", word).status_code == 409
    assert answer(console, f"q{item}", "both", "not:a:pair").status_code == 409
    assert answer(console, f"q{item}", "same", into="x").status_code == 409
    assert dispute.state(conflict)[0] == "open"
    for key in ("x1", "q", "q-1", "c99999999999999999999", "qq1", "q999999"):
        assert console.get(f"/inbox/{key}").status_code == 404


def test_list_has_all_kinds_with_counts_and_pages(console: Console, dispute: Dispute) -> None:
    expected = []
    for place, tier in enumerate(("low", "high", "medium") * 9):
        newer, older = dispute.memory(f"Maya has {place} cats."), dispute.memory(f"Maya has {place} dogs.")
        _, item = dispute.conflict(newer, older, tier=tier, now=NOW + timedelta(minutes=place))  # type: ignore[arg-type]
        expected.append((("high", "medium", "low").index(tier), place, f"q{item}"))
    alone = dispute.register(dispute.memory("1 is odd."), dispute.memory("1 is even."))
    claim = claim_in_review(dispute, 50)[2]
    found, path = [], "/inbox?kind=contradiction"
    while path:
        page = console.get(path, who="curator").text
        found += re.findall(r'<h2[^>]*><a href="/inbox/(\w+)', page)
        older_link = re.search(r'<a href="([^"]+)" rel="next">', page)
        path = older_link[1].replace("&amp;", "&") if older_link else ""
    assert found == [*(key for _, _, key in sorted(expected)), f"c{alone}"]
    page = console.get("/inbox", who="curator").text
    for label in ("All (29)", "Contradictions (28)", "Claims to confirm (1)"):
        assert label in page
    assert f'href="/inbox/q{claim}?kind=claim"' in console.get("/inbox?kind=claim", who="curator").text
    assert "Nothing that fits these filters" in console.get("/inbox?scope=room:lobby").text
    for wrong in ("kind=grave", "agent=a&scope=room:b"):
        assert console.get(f"/inbox?{wrong}").status_code == 400


def test_many_claims_get_one_answer_and_one_run(console: Console, dispute: Dispute) -> None:
    claims = [claim_in_review(dispute, number) for number in range(3)]
    client = console.visitor("curator")
    page = client.get("/inbox?kind=claim").text
    assert page.count('type="checkbox"') == 3
    assert 'type="checkbox"' not in console.get("/inbox?kind=claim").text, "a viewer decides nothing"
    dispute.sql("UPDATE slowwave.memories SET revision = revision + 1 WHERE id = :id", id=claims[1][0])
    keys = [f"q{item}" for _, _, item in claims]
    form = {"token": token_of(page), "seen": seen_on(page), "item": keys, "answer": "archive"}
    sent = client.post("/inbox/answer?kind=claim", data=form)
    assert sent.status_code == 409
    assert "2 questions decided" in sent.text
    assert [dispute.item(item).state for _, _, item in claims] == ["rejected", "open", "rejected"]
    runs = dispute.one("SELECT count(DISTINCT run_id) AS n FROM slowwave.memory_changes WHERE action = 'rejected'")
    assert runs.n == 1
    for wrong in ({"item": []}, {"answer": "same"}, {"item": ["c1"]}, {"item": ["x"]}):
        assert client.post("/inbox/answer?kind=claim", data=form | wrong).status_code == 409
    assert dispute.item(claims[1][2]).state == "open"


def test_edited_claim_answers_its_question(console: Console, dispute: Dispute) -> None:
    claimed, _, item = claim_in_review(dispute)
    assert f'href="/memories/{claimed}#edit"' in console.get(f"/inbox/q{item}", who="curator").text
    page = console.get(f"/memories/{claimed}", who="curator").text
    assert f'href="/inbox/q{item}"' in page
    (revision,) = set(re.findall(r'name="revision" value="(\d+)"', page))
    sent = console.post(f"/memories/{claimed}/edit", who="curator", words="Maya has one cat.", revision=revision)
    assert sent.status_code == 303
    assert dispute.item(item).state != "open"


def test_i8_item_of_another_tenant_does_not_exist(console: Console, engine: Engine) -> None:
    other = Dispute(engine, tenant="globex")
    conflict, item = other.conflict(other.memory("Jonas is tall."), other.memory("Jonas is small."))
    for key in (f"c{conflict}", f"q{item}"):
        assert console.get(f"/inbox/{key}").status_code == 404
        assert console.post(f"/inbox/{key}/answer", answer="both", seen="").status_code == 404
    assert other.state(conflict)[0] == "open"
    assert "Nothing waits for you" in console.get("/inbox").text
