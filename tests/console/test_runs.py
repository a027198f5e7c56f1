"""Pages of runs: what a run changed; taking it back in a person's name, or what stands in the way."""

import pytest
from playwright.sync_api import Page
from sqlalchemy import Engine

from slowwave.settings import Consolidation
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from tests.console.conftest import TENANT, Console, log_in
from tests.support.consolidating import APART, merges_all
from tests.support.passing import Past, day, state

pytestmark = pytest.mark.servers


@pytest.fixture
def past(engine: Engine) -> Past:
    return Past(engine, tenant=TENANT)


def test_runs_are_listed_and_filtered_and_each_shows_what_was_before_and_after(console: Console, past: Past) -> None:
    run, _, home = past.merged()
    listed = console.get("/runs").text
    assert f'href="/runs/{run}"' in listed
    assert "agent:concierge" in listed
    assert "No run fits these filters" in console.get("/runs?kind=deep").text
    assert f'href="/runs/{run}"' in console.get("/runs?agent=concierge").text
    assert console.get("/runs?agent=conciergw").status_code == 404
    assert "room:NAME" in console.get("/runs?scope=kitchen").text
    assert console.get("/runs?kind=nonsense").status_code == 404
    shown = console.get(f"/runs/{run}").text
    for words in (
        "1 merged, 1 sourced, 1 promoted", "merged into “Maya lives in Lisbon.”", "status: new → active",
        "the same (friday#1)", "Maya lives in Lisbon.", f'href="/memories/{home}"', "links: 1",
    ):  # fmt: skip
        assert words in shown, words
    assert "Undo run" not in shown
    assert f"Undo run {run}" in console.get(f"/runs/{run}", who="operator").text


def test_a_rolled_back_pass_tells_why_and_names_the_memories(console: Console, past: Past) -> None:
    told = [past.say(statement, session=statement) for statement in APART]
    order = Order(past.scope_id, "light", meaning=merges_all)
    run = consolidate(past.engine, order, settings=Consolidation(), clock=lambda: day(8)).run
    assert "rolled back" in console.get("/runs").text
    shown = console.get(f"/runs/{run}").text
    for words in ("rolled back", "answers would have held", "Evidence at risk", "rolled_back_evidence_after"):
        assert words in shown, words
    assert any(f'href="/memories/{memory}"' in shown for memory in told)
    assert "This run changed no memory" in shown


def test_i6_a_run_is_undone_in_the_person_s_name_or_the_refusal_says_why(console: Console, past: Past) -> None:
    run, lisbon, home = past.merged()
    with past.run("review", at=day(9), by="jonas") as later:
        later.set(lisbon, "edited", content="Maya lives in Lisbon, Portugal.")
    before = state(past.engine)
    refused = console.post(f"/runs/{run}/undo")
    assert refused.status_code == 409
    assert f"run {run} can&#39;t be undone: run {later.id} (review by jonas" in refused.text
    assert state(past.engine) == before
    assert console.post(f"/runs/{later.id}/undo").status_code == 303
    gone = console.post(f"/runs/{run}/undo")
    assert gone.status_code == 303
    assert past.row(home)["merged_into"] is None
    said = console.get(gone.headers["location"], who="operator").text
    assert f"Run {run} undone: 2 memories as before." in said
    assert "<dt>By</dt><dd>operator</dd>" in said
    with past.engine.connect() as connection:
        made_by = connection.exec_driver_sql(
            "SELECT DISTINCT made_by FROM slowwave.memory_changes WHERE action = 'undone'"
        ).scalars()
        assert list(made_by) == ["operator"]
    assert "was undone already" in console.post(f"/runs/{run}/undo").text


def test_i8_a_run_of_another_tenant_is_not_there(console: Console, past: Past) -> None:
    run, _, _ = past.merged()
    assert console.get(f"/runs/{run}", who="stranger").status_code == 404
    assert console.post(f"/runs/{run}/undo", who="stranger").status_code == 404
    assert "Maya" not in console.get("/runs", who="stranger").text
    assert console.get("/runs/99999999999999999999999").status_code == 400


def test_the_changes_of_a_long_run_are_read_on(console: Console, past: Past) -> None:
    memory = past.say("Maya has no boat.")
    with past.run(at=day(3)) as run:
        for number in range(60):
            run.set(memory, "edited", content=f"Maya has {number} boats.")
    first = console.get(f"/runs/{run.id}").text
    assert ("→ 49</p>" in first, "→ 50</p>" in first) == (True, False)
    (older,) = [part for part in first.split('"') if part.startswith(f"/runs/{run.id}?after=")]
    rest = console.get(older).text
    assert [f"→ {number}</p>" in rest for number in (49, 50, 59)] == [False, True, True]
    assert "The first changes" in rest


@pytest.mark.long
def test_a_run_undone_in_the_browser_brings_the_former_context_back(console: Console, past: Past, page: Page) -> None:
    run, _, _ = past.merged()
    after = console.memory.context("concierge").to_text()
    log_in(page, "operator")
    page.goto("/runs")
    page.get_by_role("link", name=f"Run {run}", exact=True).click()
    page.get_by_text("Undo this run").click()
    page.get_by_role("button", name=f"Undo run {run}").click()
    page.get_by_text(f"Run {run} undone: 2 memories as before.").wait_for()
    before = console.memory.context("concierge").to_text()
    assert "Maya's home is Lisbon." not in after
    assert "Maya's home is Lisbon." in before
