"""The review queue in the console: one question or many at once, in the person's name, about what they saw."""

import re
from datetime import timedelta
from uuid import UUID

import pytest
from playwright.sync_api import Page
from sqlalchemy import Engine

from tests.console.conftest import TENANT, Console, log_in, token_of
from tests.support.installation import NOW
from tests.support.reviewing import Dispute

pytestmark = pytest.mark.servers


@pytest.fixture
def dispute(engine: Engine) -> Dispute:
    return Dispute(engine, tenant=TENANT)


@pytest.fixture
def claim(dispute: Dispute) -> tuple[UUID, UUID, int]:
    """What an assistant claimed, against what Maya said; and the number of the question."""
    said = dispute.memory("Maya eats fish.", days=9)
    claimed = dispute.memory("Maya is a vegan.", trust="assistant", status="episode", days=2)
    return claimed, said, dispute.in_review(claimed, said)[1]


def seen(page: str) -> list[str]:
    return re.findall(r'name="seen" value="([^"]+)"', page)


def answer(console: Console, item: int, word: str, **more: str) -> tuple[int, str]:
    given = more.pop("seen", None) or seen(console.get(f"/review/{item}", who="curator").text)[0]
    sent = console.post(f"/review/{item}/decide", who="curator", answer=word, seen=given, **more)
    return sent.status_code, sent.text


ANSWERS = {
    "accept": (("episode", None), "accepted"),
    "reject": (("archived", "rejected"), "rejected"),
    "merge": (("archived", "merged"), "merged"),
}


def test_every_answer_does_what_it_says(console: Console, dispute: Dispute) -> None:
    for number, (word, (status, state)) in enumerate(ANSWERS.items()):
        said = dispute.memory(f"Maya has {number} cats.", days=9)
        claimed = dispute.memory(f"Maya has no {number} cats.", trust="assistant", status="episode", days=2)
        _, item = dispute.in_review(claimed, said)
        page = console.get(f"/review/{item}", who="curator").text
        for told in (f"Maya has {number} cats.", f"Maya has no {number} cats.", "is in answers again", "low"):
            assert told in page
        assert answer(console, item, word, **({"into": str(said)} if word == "merge" else {}))[0] == 303
        assert dispute.status(claimed) == status
        assert (dispute.item(item).state, dispute.item(item).decided_by) == (state, "curator")


def test_mistake_26_a_later_change_is_told_and_the_choice_is_kept(
    console: Console, dispute: Dispute, claim: tuple[UUID, UUID, int]
) -> None:
    _, said, item = claim
    (given,) = seen(console.get(f"/review/{item}", who="curator").text)
    dispute.sql("UPDATE slowwave.memories SET revision = revision + 1 WHERE id = :id", id=said)
    status, page = answer(console, item, "merge", seen=given, into=str(said))
    assert (status, "was changed after you had looked at it" in page) == (409, True)
    assert re.search(r'value="merge"[^>]* checked', page)
    assert re.search(rf'value="{said}" selected', page)
    assert dispute.item(item).state == "open"
    assert answer(console, item, "merge", into=str(UUID(int=3)))[0] == 409
    assert answer(console, item, "merge", into="x")[0] == answer(console, item, "keep")[0] == 409
    assert answer(console, item, "reject")[0] == 303
    status, page = answer(console, item, "accept", seen=given)
    assert (status, "was rejected already by curator" in page) == (409, True)


def test_other_words_for_a_memory_in_review_answer_its_question(
    console: Console, dispute: Dispute, claim: tuple[UUID, UUID, int]
) -> None:
    claimed, _, item = claim
    page = console.get(f"/review/{item}", who="curator").text
    assert f'<a href="/memories/{claimed}">Say the memory in other words</a>' in page
    (revision,) = set(
        re.findall(r'name="revision" value="(\d+)"', console.get(f"/memories/{claimed}", who="curator").text)
    )
    sent = console.post(f"/memories/{claimed}/correct", who="curator", words="Maya eats no meat.", revision=revision)
    assert sent.status_code == 303
    assert dispute.item(item).state != "open"
    assert dispute.row(UUID(sent.headers["location"][-36:])).status == "inbox"


def test_many_are_decided_at_once_and_what_changed_meanwhile_stays(console: Console, dispute: Dispute) -> None:
    items, claims = [], []
    for number in range(3):
        claimed = dispute.memory(f"Maya owns {number} boats.", trust="assistant")
        claims.append(claimed)
        items.append(dispute.in_review(claimed, dispute.memory(f"Maya owns no {number} boats."))[1])
    client = console.visitor("curator")
    page = client.get("/review?agent=maya").text
    assert page.count('type="checkbox"') == 3
    dispute.sql("UPDATE slowwave.memories SET revision = revision + 1 WHERE id = :id", id=claims[1])
    form = {"token": token_of(page), "seen": seen(page), "question": [str(item) for item in items], "answer": "reject"}
    sent = client.post("/review/decide", data=form)
    assert sent.status_code == 409
    assert "2 questions decided" in sent.text
    assert f"Question {items[1]}: what it is about was changed" in sent.text
    assert [dispute.item(item).state for item in items] == ["rejected", "open", "rejected"]
    assert (
        dispute.one("SELECT count(DISTINCT run_id) AS runs FROM slowwave.memory_changes WHERE action = 'rejected'").runs
        == 1
    )
    for wrong in ({"question": []}, {"answer": "merge"}, {"answer": ""}):
        assert client.post("/review/decide", data=form | wrong).status_code == 409
    assert dispute.item(items[1]).state == "open"


def test_a_question_about_a_contradiction_has_its_five_answers(console: Console, dispute: Dispute) -> None:
    newer, older = dispute.memory("Maya works at Globex.", days=2), dispute.memory("Maya works at Acme.", days=9)
    conflict, item = dispute.conflict(newer, older)
    page = console.get(f"/review/{item}", who="curator").text
    assert re.findall(r'name="answer" value="([^"]+)"', page) == [
        f"keep:{newer}", f"keep:{older}", "both", "same", "neither",
    ]  # fmt: skip
    for words in ("Keep newer", "Keep older", "Keep both", "Merge", "Keep neither"):
        assert f"{words}: " in page
    listed = console.get("/review", who="curator").text
    assert ('type="checkbox"' in listed, f"Answer question {item}" in listed) == (False, True), "no reject of many"
    sent = console.post(f"/conflicts/{conflict}/decide", who="curator", answer=f"keep:{older}", seen=seen(page)[0])
    assert sent.status_code == 303
    assert (dispute.status(newer), dispute.state(conflict)[0]) == (("archived", "rejected"), "resolved")


def test_questions_are_listed_by_what_is_at_stake_and_read_on(console: Console, dispute: Dispute) -> None:
    expected = []
    for place, tier in enumerate(("low", "high", "medium") * 10):
        newer, older = dispute.memory(f"Maya has {place} cats."), dispute.memory(f"Maya has {place} dogs.")
        _, item = dispute.conflict(newer, older, tier=tier, now=NOW + timedelta(minutes=place))
        expected.append((("high", "medium", "low").index(tier), place, item))
    found, path = [], "/review"
    while path:
        page = console.get(path).text
        found += re.findall(r'<h2[^>]*><a href="/review/(\d+)"', page)
        older_link = re.search(r'<a href="([^"]+)" rel="next">', page)
        path = older_link[1].replace("&amp;", "&") if older_link else ""
    assert found == [str(item) for _, _, item in sorted(expected)]
    assert console.get("/review?tier=high").text.count("<article") == 10
    assert "There are no such questions" in console.get("/review?state=expired").text
    for wrong in ("tier=grave", "state=odd", "after=1", "after=high,x,1", "agent=a&scope=room:b"):
        assert console.get(f"/review?{wrong}").status_code == 400
    assert 'type="checkbox"' not in page, "a viewer decides nothing"


def test_a_question_is_answered_in_the_browser_by_keyboard(
    page: Page, dispute: Dispute, claim: tuple[UUID, UUID, int]
) -> None:
    claimed, _, item = claim
    log_in(page, "curator")
    page.goto(f"/review/{item}")
    page.get_by_label("Accept", exact=True).focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.get_by_role("status").get_by_text("can be undone").wait_for()
    assert dispute.status(claimed) == ("episode", None)
