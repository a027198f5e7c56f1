"""The middle band with a model: asked within a budget, checked before it is kept; without one, a link."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine

from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_calls import BudgetReached, ModelFailed
from slowwave_server.services.consolidation.asking import ModelUse
from slowwave_server.services.undo.undo import undo
from tests.support.answering import Oracle, Reply
from tests.support.consolidating import Hearer

pytestmark = pytest.mark.servers

FIRST = "Maya likes green tea in the morning"
SECOND = "Maya likes green tea in the morning with honey"
BOTH = "Maya likes green tea with honey in the morning"
CAP = BudgetReached("memory.llm.daily_token_budget", datetime(2024, 5, 11, tzinfo=UTC))

ENDS = (
    (ModelFailed("no JSON", tokens=70), "no_answer"),
    (TransientError("the endpoint is down"), "unreachable"),
    ("NONE", "no_answer"),
    ("Maya does not like green tea in the morning with honey", "refused"),
)


@pytest.fixture
def hearer(engine: Engine) -> Hearer:
    return Hearer(engine)


def heard(hearer: Hearer) -> tuple[UUID, UUID]:
    return hearer.hear(FIRST, days_ago=90, session="a"), hearer.hear(SECOND, days_ago=40, session="b")


def says(what: Any) -> Reply:
    return lambda _prompt: what


def test_two_about_the_same_become_one_sentence_with_the_sources_of_both(hearer: Hearer) -> None:
    one, two = heard(hearer)
    model = Oracle(says(BOTH))
    report = hearer.run("deep", model=ModelUse(model))
    assert report.counts["synthesised"] == 1
    (kept,) = [memory for memory in (one, two) if hearer.memory(memory).status != "archived"]
    assert hearer.memory(kept).content == BOTH
    assert len(hearer.sql("SELECT 1 FROM slowwave.memory_sources WHERE memory_id = :m", m=kept)) == 2
    ((prompt, spender),) = model.asked
    assert FIRST in prompt.user
    assert SECOND in prompt.user
    assert (spender.tenant, spender.agent, spender.run) == ("default", "maya", report.run)
    hearer.run("deep", model=ModelUse(model))
    assert hearer.memory(kept).content == BOTH, "what a model made one stays one"
    assert report.run is not None
    undo(hearer.engine, "default", report.run, by="Priya", now=hearer.now)
    assert {hearer.memory(one).content, hearer.memory(two).content} == {FIRST, SECOND}
    assert "archived" not in {hearer.memory(memory).status for memory in (one, two)}


def test_without_a_model_they_stay_two_and_are_linked(hearer: Hearer) -> None:
    one, two = heard(hearer)
    report = hearer.run("deep")
    assert report.state == "completed"
    assert {frozenset(pair) for pair in hearer.links("related_to")} == {frozenset((one, two))}


def test_mistake_17_whatever_a_call_ends_with_is_counted_and_costs_no_memory(hearer: Hearer) -> None:
    one, two = heard(hearer)
    for session in ("x", "y"):
        hearer.hear("Jonas collects stamps", session=session, confidence=0.9)
    for answer, outcome in ENDS:
        report = hearer.run("deep", model=ModelUse(Oracle(says(answer))))
        assert report.state == "completed"
        assert report.counts[outcome] == 1
        assert f"1 {outcome.replace('_', ' ')}" in report.summary
        assert {hearer.memory(one).content, hearer.memory(two).content} == {FIRST, SECOND}
        assert {frozenset(pair) for pair in hearer.links("related_to")} == {frozenset((one, two))}
        assert hearer.active() == {"Jonas collects stamps"}


def test_i7_a_reached_cap_ends_the_asking_and_is_named_in_the_summary(hearer: Hearer) -> None:
    heard(hearer)
    hearer.hear("Priya drinks black coffee after lunch", days_ago=80, session="c")
    hearer.hear("Priya drinks black coffee after lunch with milk", days_ago=50, session="d")
    model = Oracle(says(CAP))
    report = hearer.run("deep", model=ModelUse(model))
    assert report.counts["not_asked"] == 2
    assert len(model.asked) == 1
    assert report.summary.endswith("not asked: memory.llm.daily_token_budget is reached, until 2024-05-11 00:00 UTC")


def test_mistake_26_a_sentence_that_comes_too_late_changes_nothing(hearer: Hearer) -> None:
    one, two = heard(hearer)

    def said_again(_prompt: object) -> str:
        hearer.hear(FIRST, days_ago=1, session="c")
        return BOTH

    report = hearer.run("deep", model=ModelUse(Oracle(said_again)))
    assert report.counts["refused"] == 1
    assert {hearer.memory(one).content, hearer.memory(two).content} == {FIRST, SECOND}


def test_mistake_11_a_pass_that_was_taken_over_while_the_model_thought_writes_nothing(hearer: Hearer) -> None:
    one, two = heard(hearer)

    def taken_over(_prompt: object) -> str:
        hearer.sql("UPDATE slowwave.maintenance_runs SET status = 'failed', lease = NULL WHERE status = 'running'")
        return BOTH

    with pytest.raises(Exception, match="taken over by another worker"):
        hearer.run("deep", model=ModelUse(Oracle(taken_over)))
    assert {hearer.memory(one).content, hearer.memory(two).content} == {FIRST, SECOND}


def test_neither_a_light_pass_nor_a_dry_run_asks_for_a_sentence(hearer: Hearer) -> None:
    heard(hearer)
    model = Oracle(says(BOTH))
    hearer.run("deep", model=ModelUse(model), dry_run=True)
    hearer.run("light", model=ModelUse(model))
    assert model.asked == []


RELATION = {
    "note": 1,
    "subject": "Maya",
    "subject_type": "person",
    "predicate": "repairs",
    "object": "old radios",
    "object_type": "thing",
}


def triples(hearer: Hearer) -> list[tuple[str, ...]]:
    rows = hearer.sql(
        "SELECT subject, predicate, object, extractor FROM slowwave.triples WHERE extractor LIKE 'model%'"
    )
    return [tuple(row) for row in rows]


def test_relations_that_the_words_bear_out_are_kept_beside_those_of_the_rules(hearer: Hearer) -> None:
    hearer.hear("In the evenings Maya repairs old radios for her neighbours")
    invented = [
        RELATION | {"object": "old clocks"},
        RELATION | {"subject": "Jonas"},
        RELATION | {"predicate": "must obey"},
        RELATION | {"note": 7},
        RELATION | {"note": 0},
    ]
    model = Oracle(says({"relations": [*invented, RELATION]}))
    report = hearer.run("light", model=ModelUse(model, triples=True))
    assert triples(hearer) == [("Maya", "repairs", "old radios", "model triples/1 test oracle-1")]
    hearer.run("deep", model=ModelUse(model, triples=True))
    assert len(model.asked_for("triples")) == 1, "a memory is asked about once"
    assert report.run is not None
    undo(hearer.engine, "default", report.run, by="Priya", now=hearer.now)
    assert triples(hearer) == []


def test_no_relation_is_asked_for_where_that_is_off_and_none_is_kept_of_words_that_changed(hearer: Hearer) -> None:
    memory = hearer.hear("In the evenings Maya repairs old radios for her neighbours")
    silent = Oracle(says({"relations": [RELATION]}))
    hearer.run("light", model=ModelUse(silent), dry_run=True)
    assert silent.asked == []

    def reworded(_prompt: object) -> object:
        hearer.sql("UPDATE slowwave.memories SET content = 'Maya repairs nothing' WHERE id = :m", m=memory)
        return {"relations": [RELATION]}

    hearer.run("light", model=ModelUse(Oracle(reworded), triples=True))
    assert triples(hearer) == []
