"""The middle band with a model: reserved before, settled after, checked before it is kept; without one, a link."""

from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

import pytest
from sqlalchemy import Engine

from services.consolidation.synthesis import ModelFailed, Sentence, Synthesis
from services.undo import undo
from tests.consolidating import Hearer

pytestmark = pytest.mark.servers

FIRST = "Maya likes green tea in the morning"
SECOND = "Maya likes green tea in the morning with honey"
BOTH = "Maya likes green tea with honey in the morning"


@dataclass
class Ledger:
    """A budget that remembers every step."""

    cap: int = 100_000
    steps: list[tuple[str, int]] = field(default_factory=list)

    def reserve(self, tokens: int) -> "Ledger | None":
        if sum(amount for step, amount in self.steps if step == "settled") + tokens > self.cap:
            return None
        self.steps.append(("reserved", tokens))
        return self

    def settle(self, tokens: int) -> None:
        self.steps.append(("settled", tokens))


@dataclass
class Writer:
    """A model that answers what it is told to; `meanwhile` happens while it thinks."""

    answer: str | None = BOTH
    meanwhile: Callable[[], object] = lambda: None

    def synthesise(self, first: str, second: str) -> Sentence:
        assert {first, second} == {FIRST, SECOND}
        self.meanwhile()
        if self.answer is None:
            raise ModelFailed("no JSON", tokens=70)
        return Sentence(self.answer, 90)


@pytest.fixture
def hearer(engine: Engine) -> Hearer:
    return Hearer(engine)


def heard(hearer: Hearer) -> tuple[UUID, UUID]:
    return hearer.hear(FIRST, days_ago=90, session="a"), hearer.hear(SECOND, days_ago=40, session="b")


def test_two_about_the_same_become_one_sentence_with_the_sources_of_both(hearer: Hearer) -> None:
    one, two = heard(hearer)
    ledger = Ledger()
    report = hearer.run("deep", synthesis=Synthesis(Writer(), ledger))
    assert report.counts["synthesised"] == 1
    (kept,) = [memory for memory in (one, two) if hearer.memory(memory).status != "archived"]
    assert hearer.memory(kept).content == BOTH
    assert len(hearer.sql("SELECT 1 FROM slowwave.memory_sources WHERE memory_id = :m", m=kept)) == 2
    assert [step for step, _ in ledger.steps] == ["reserved", "settled"]
    hearer.run("deep", synthesis=Synthesis(Writer(), ledger))
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


@pytest.mark.parametrize(
    ("answer", "outcome"), [(None, "no_answer"), ("Maya does not like green tea in the morning", "refused")]
)
def test_mistake_17_a_failed_call_is_settled_and_costs_no_memory(
    hearer: Hearer, answer: str | None, outcome: str
) -> None:
    one, two = heard(hearer)
    ledger = Ledger()
    report = hearer.run("deep", synthesis=Synthesis(Writer(answer), ledger))
    assert report.counts[outcome] == 1
    assert [step for step, _ in ledger.steps] == ["reserved", "settled"]
    assert ledger.steps[1][1] in {70, 90}, "what it cost is counted, failure or not"
    assert {hearer.memory(one).content, hearer.memory(two).content} == {FIRST, SECOND}


def test_mistake_17_an_exhausted_budget_skips_the_model_and_not_the_job(hearer: Hearer) -> None:
    heard(hearer)
    hearer.hear("Jonas collects stamps", session="x", confidence=0.9)
    report = hearer.run("deep", synthesis=Synthesis(Writer(), Ledger(cap=10)))
    assert report.state == "completed"
    assert report.counts["no_budget"] == 1
    assert hearer.active() == {"Jonas collects stamps"}


def test_mistake_26_a_sentence_that_comes_too_late_changes_nothing(hearer: Hearer) -> None:
    one, two = heard(hearer)

    def said_again() -> None:
        hearer.hear(FIRST, days_ago=1, session="c")

    report = hearer.run("deep", synthesis=Synthesis(Writer(meanwhile=said_again), Ledger()))
    assert report.counts["refused"] == 1
    assert {hearer.memory(one).content, hearer.memory(two).content} == {FIRST, SECOND}
