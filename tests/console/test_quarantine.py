"""Quarantine: an operator retries events, and retries and dismisses dead letters."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page
from sqlalchemy import Engine

from slowwave_server.models import DeadLetter
from slowwave_server.services.reports.quarantine import count_quarantined
from slowwave_server.workers.app import make_app
from tests.console.conftest import TENANT, Console, log_in
from tests.support.installation import Installation

pytestmark = pytest.mark.servers

TURN = {
    "tenant": TENANT,
    "agent": "concierge",
    "session": "monday",
    "messages": [{"role": "user", "content": "I moved to Lisbon last week."}],
}
TASK = "slowwave.record_turn"


@pytest.fixture
def installation(engine: Engine) -> Installation:
    return Installation(engine)


def set_aside(installation: Installation, *lines: str) -> None:
    agent, scope = installation.agent("concierge", tenant=TENANT), installation.scope("concierge", tenant=TENANT)
    said = [("Maya", line) for line in lines]
    session = installation.session(agent, scope, "monday", *said, processed_until=len(lines))
    for seq in range(1, len(lines) + 1):
        installation.quarantine(session, seq, "the model was mad")


def test_mistake_16_an_event_that_was_set_aside_is_tried_again(console: Console, installation: Installation) -> None:
    set_aside(installation, "I moved to Lisbon last week.", "<b>Hm.</b>")
    shown = console.get("/quarantine").text
    assert "the model was mad" in shown
    assert "&lt;b&gt;Hm.&lt;/b&gt;" in shown
    assert (">Retry<" in shown, ">Retry<" in console.get("/quarantine", who="operator").text) == (False, True)
    place = {"agent": "concierge", "session": "monday"}
    answer = console.post("/quarantine/events/retry", **place, seq="1")
    assert answer.headers["location"] == "/quarantine/events"
    assert "1 memory stored." in console.get("/quarantine/events", who="operator").text
    console.post("/quarantine/events/retry", **place, seq="1")
    assert "It is no longer in quarantine." in console.get("/quarantine/events", who="operator").text
    console.post("/quarantine/events/retry-all")
    assert "1 of 1 event were processed." in console.get("/quarantine/events", who="operator").text
    assert "No event is in quarantine." in console.get("/quarantine/events?agent=concierge").text
    assert "Lisbon" in console.memory.context("concierge").to_text()


def test_i8_nothing_of_another_tenant_is_shown_or_tried(console: Console, installation: Installation) -> None:
    set_aside(installation, "I moved to Lisbon last week.")
    number = installation.letter(TASK, TURN, "Postgres refused it", tenant=TENANT)
    for path in ("/quarantine", "/quarantine/events", "/quarantine/dead-letters?state=any"):
        shown = console.get(path, who="stranger").text
        assert ("Lisbon" in shown, "refused it" in shown) == (False, False)
    assert console.get(f"/quarantine/dead-letters/{number}", who="stranger").status_code == 404
    place = {"agent": "concierge", "session": "monday", "seq": "1"}
    assert console.post("/quarantine/events/retry", who="stranger", **place).status_code == 404
    console.post("/quarantine/events/retry-all", who="stranger")
    console.post("/quarantine/dead-letters/redrive", who="stranger", letter=str(number))
    console.post("/quarantine/dead-letters/dismiss", who="stranger", every="yes")
    with installation.engine.connect() as connection:
        assert count_quarantined(connection, TENANT) == 1
    assert installation.value(DeadLetter.state, id=number) == "open"


def test_i8_a_letter_of_nobody_is_for_who_may_see_every_tenant(console: Console, installation: Installation) -> None:
    number = installation.letter(TASK, {"agent": ["Maya"]}, "agent: no text", tenant=None)
    installation.agent("atlas", tenant=TENANT)
    assert "no text" in console.get("/quarantine").text, "there is no other tenant whose it could be"
    installation.agent("atlas", tenant="globex")
    for path in ("/quarantine", "/quarantine/dead-letters"):
        assert "no text" not in console.get(path).text
    assert console.get(f"/quarantine/dead-letters/{number}").status_code == 404
    console.post("/quarantine/dead-letters/dismiss", letter=str(number))
    console.post("/quarantine/dead-letters/dismiss", every="yes")
    assert installation.value(DeadLetter.state, id=number) == "open"


def test_letters_are_dismissed_and_stay_readable(console: Console, installation: Installation) -> None:
    numbers = [installation.letter(TASK, TURN, f"refusal {n}", tenant=TENANT) for n in range(30)]
    first = console.get("/quarantine/dead-letters").text
    assert ("refusal 29" in first, "refusal 4<" in first) == (True, False)
    (older,) = [part for part in first.split('"') if part.startswith("/quarantine/dead-letters?before=")]
    assert "refusal 4<" in console.get(older).text
    assert "All 30 open dead letters" in console.get("/quarantine").text
    refused = console.post("/quarantine/dead-letters/dismiss")
    assert (refused.status_code, "No dead letter was selected" in refused.text) == (400, True)
    assert console.post("/quarantine/dead-letters/dismiss", letter="-1").status_code == 400
    console.post("/quarantine/dead-letters/dismiss", letter=str(numbers[0]))
    assert "1 dead letter dismissed." in console.get("/quarantine/dead-letters", who="operator").text
    console.post("/quarantine/dead-letters/redrive", letter=str(numbers[0]))
    assert "there is no such open letter" in console.get("/quarantine/dead-letters", who="operator").text
    shown = console.get(f"/quarantine/dead-letters/{numbers[0]}", who="operator").text
    assert "dismissed" in shown
    assert "I moved to Lisbon last week." in shown
    assert "Retry" not in shown.split("<main")[1]
    assert "refusal 0<" in console.get("/quarantine/dead-letters?state=dismissed").text
    assert console.get("/quarantine/dead-letters?state=lost").status_code == 404


@pytest.mark.long
def test_a_letter_retried_in_the_browser_does_its_work(
    console: Console, installation: Installation, page: Page
) -> None:
    number = installation.letter(TASK, TURN, "Postgres refused it", tenant=TENANT)
    log_in(page, "operator")
    page.goto("/quarantine")
    page.get_by_role("checkbox", name=f"Letter {number}").check()
    page.get_by_role("button", name="Retry selected").click()
    page.get_by_text("1 dead letter retried.").wait_for()
    assert "I moved to Lisbon" not in console.memory.context("concierge").to_text()
    app = make_app(console.settings)
    app.loader.import_default_modules()
    try:
        app.tasks[TASK].apply(kwargs=sent(console)).get()
    finally:
        app.close_runtime()
    assert "I moved to Lisbon" in console.memory.context("concierge").to_text()
    assert installation.value(DeadLetter.state, id=number) == "redriven"


def sent(console: Console) -> Any:
    """What the one message in the queue gives its task."""
    messages: Any = console.redis.lrange("capture", 0, -1)
    (message,) = [json.loads(one) for one in messages]
    assert message["headers"]["task"] == TASK
    return json.loads(message["body"])[1]
