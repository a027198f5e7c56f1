"""Open conflicts before a model: it settles what event order settles too, once, explains itself, and can be undone."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from redis import Redis
from sqlalchemy import Engine

from proof.fake_model import FakeModel
from proof.fake_replies import rate_limited
from slowwave.errors import InvalidSettings
from slowwave.settings import Settings
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_calls import AskModel, BudgetReached, ModelFailed
from slowwave_server.services.consolidation.adjudication import adjudicate
from slowwave_server.services.consolidation.asking import Asking, ModelUse
from slowwave_server.services.consolidation.jobs import RUNNERS
from slowwave_server.services.consolidation.scope_pass import Order
from slowwave_server.services.consolidation.whole import consolidate_whole
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.forget.target import Target
from slowwave_server.services.llm.build import build_model
from slowwave_server.services.llm.drivers import AccessRefused
from slowwave_server.services.maintenance.scheduler import Scheduler
from slowwave_server.services.reports.conflicts import ListedConflict, list_conflicts
from slowwave_server.services.undo.undo import undo
from tests.support.answering import Oracle, Reply
from tests.support.consolidating import Hearer

pytestmark = pytest.mark.servers

OLDER = "Maya drinks coffee"
NEWER = "Maya does not drink coffee"
OPEN: tuple[tuple[Any, ...], ...] = (("unclear", 1), ("first", 1), ("second", 1), ("second", 9), ("both", 2))


@dataclass
class Dispute:
    """One scope with two statements that contradict each other, and events behind both."""

    hearer: Hearer

    def say(self, content: str, *, days_ago: float, trust: str = "user") -> UUID:
        memory = self.hearer.hear(content, days_ago=days_ago, session=f"s{days_ago}", trust=trust)
        self.hearer.sql(
            "INSERT INTO slowwave.events"
            " (session_id, seq, turn, kind, role, name, content, day, happened_at, recorded_at)"
            " SELECT m.session_id, m.seq, 1, 'user', 'user', 'Maya', :content, CAST(m.holds_from AS date),"
            " m.holds_from, m.holds_from FROM slowwave.memory_sources m WHERE m.memory_id = :memory"
            " ON CONFLICT DO NOTHING",
            content=content,
            memory=memory,
        )
        return memory

    def ask(self, reply: Reply) -> tuple[Asking, Oracle]:
        model = Oracle(reply)
        asking = adjudicate(
            self.hearer.engine, self.hearer.scope_id, ModelUse(model), run=None, clock=lambda: self.hearer.now
        )
        assert asking is not None
        return asking, model

    def conflict(self) -> ListedConflict:
        with self.hearer.engine.connect() as connection:
            (found,) = list_conflicts(connection, "default", status=None)
        return found


def says(holds: str, *sources: int, why: str = "She stopped.") -> Reply:
    said: dict[str, Any] = {"holds": holds, "why": why, "sources": list(sources)}
    return lambda _prompt: said


@pytest.fixture
def dispute(engine: Engine) -> Dispute:
    dispute = Dispute(Hearer(engine))
    dispute.say(OLDER, days_ago=90)
    dispute.say(NEWER, days_ago=40)
    dispute.hearer.run("light")
    assert dispute.conflict().status == "open"
    return dispute


def test_a_model_lets_the_later_statement_replace_the_earlier_one_and_that_can_be_undone(dispute: Dispute) -> None:
    asking, model = dispute.ask(says("second", 2))
    assert asking.counts == {"adjudicated": 1}
    ((prompt, spender),) = model.asked
    assert f"Maya: {OLDER}" in prompt.user
    assert f"Maya: {NEWER}" in prompt.user
    assert spender.tenant == "default"
    decided = dispute.conflict()
    assert (decided.status, decided.decided_by) == ("resolved", "model test oracle-1")
    assert decided.resolution is not None
    assert decided.resolution.endswith("says model test oracle-1")
    assert decided.evidence["asked"]["why"] == "She stopped."
    assert decided.older.superseded_by == decided.newer.id
    assert decided.older.status != "archived", "a model deletes nothing"
    assert {decided.older.trust, decided.newer.trust} == {"user"}
    run = decided.evidence["asked"]["run"]
    undo(dispute.hearer.engine, "default", run, by="Priya", now=dispute.hearer.now)
    back = dispute.conflict()
    assert (back.status, back.older.superseded_by) == ("open", None)
    again, model = dispute.ask(says("second", 2))
    assert model.asked == [], "what a person took back a model does not do again"
    assert again.counts == {}


def test_both_may_hold_and_then_there_is_no_conflict(dispute: Dispute) -> None:
    dispute.ask(says("both", 1, 2, why="One is of the morning."))
    found = dispute.conflict()
    assert found.status == "dismissed"
    assert found.older.superseded_by is None


def test_i6_what_the_events_do_not_bear_out_stays_a_question_and_is_asked_once(dispute: Dispute) -> None:
    unheard: list[Reply] = [lambda _p: ModelFailed("no"), *(says(*said) for said in OPEN)]
    for days_ago, reply in enumerate(unheard, start=10):
        asking, model = dispute.ask(reply)
        assert asking.counts["left_open"] == 1
        assert dispute.conflict().status == "open"
        assert len(model.asked) == 1
        _, later = dispute.ask(reply)
        assert later.asked == []
        # A side is said again: that is another state, and asked about once more.
        dispute.say(NEWER, days_ago=30 - days_ago)


def test_mistake_10_a_model_that_can_not_be_asked_is_asked_later(dispute: Dispute) -> None:
    away = (TransientError("down"), BudgetReached("memory.llm.daily_token_budget"), AccessRefused("wrong key"))
    for failure in away:
        dispute.ask(lambda _prompt, failure=failure: failure)
        assert dispute.conflict().status == "open"
    asking, _ = dispute.ask(says("second", 2))
    assert asking.counts == {"adjudicated": 1}


def test_mistake_26_a_side_that_changed_while_the_model_thought_is_not_decided(dispute: Dispute) -> None:
    def meanwhile(_prompt: object) -> object:
        dispute.say(OLDER, days_ago=1)
        return {"holds": "second", "why": "so", "sources": [2]}

    asking, _ = dispute.ask(meanwhile)
    assert asking.counts == {"too_late": 1}
    assert dispute.conflict().status == "open"


def test_mistake_18_a_decision_is_taken_back_when_the_side_that_lost_is_said_again(dispute: Dispute) -> None:
    dispute.ask(says("second", 2))
    assert dispute.conflict().status == "resolved"
    dispute.say(OLDER, days_ago=2)
    asking, _ = dispute.ask(says("unclear"))
    assert asking.counts == {"retracted": 1, "left_open": 1}
    found = dispute.conflict()
    assert (found.status, found.older.superseded_by, found.newer.superseded_by) == ("open", None, None)


def test_a_job_and_a_pass_by_hand_put_conflicts_to_the_model_and_count_them(dispute: Dispute) -> None:
    hearer = dispute.hearer
    model = Oracle(says("unclear", 1))
    scheduler = Scheduler(
        hearer.engine, RUNNERS, Settings(), clock=lambda: hearer.now, by="test", build_model=lambda _settings: model
    )
    dry = scheduler.run_now("deep-weekly", dry_run=True)
    report = scheduler.run_now("deep-weekly")
    assert dry is not None
    assert report is not None
    assert "left_open" not in dry.stats
    assert report.stats["left_open"] == 1
    assert [spender.run for prompt, spender in model.asked if prompt.purpose == "adjudicate"] == [report.run]
    dispute.say(NEWER, days_ago=3)
    by_hand = consolidate_whole(
        hearer.engine,
        Order(hearer.scope_id, "light", "Priya", model=ModelUse(Oracle(says("second", 3)))),
        settings=hearer.settings,
        clock=lambda: hearer.now,
    )
    assert by_hand.counts["adjudicated"] == 1
    assert by_hand.summary.endswith("conflicts: 1 adjudicated")


def test_a_model_that_is_set_up_wrongly_is_told_and_fails_no_job(dispute: Dispute) -> None:
    def build(_settings: Settings) -> AskModel | None:
        raise InvalidSettings("memory.llm.model names no model")

    hearer = dispute.hearer
    scheduler = Scheduler(hearer.engine, RUNNERS, Settings(), clock=lambda: hearer.now, by="test", build_model=build)
    report = scheduler.run_now("deep-weekly")
    assert report is not None
    assert report.status == "completed"
    assert "memory.llm.model names no model" in report.summary


def test_i10_what_a_model_said_of_a_forgotten_conversation_is_forgotten_with_it(
    dispute: Dispute, redis_client: Redis
) -> None:
    hearer = dispute.hearer
    dispute.say(OLDER, days_ago=80)
    dispute.ask(says("unclear", 1, why="She told it in the kitchen."))
    assert dispute.conflict().evidence["asked"]["why"] == "She told it in the kitchen."
    target = Target.of_session("default", "maya", "s80")
    Forgetter(hearer.engine, redis_client, Settings(), lambda: hearer.now).forget(target, by="Priya")
    left = dispute.conflict()
    assert left.status == "open"
    assert "why" not in left.evidence["asked"]


def test_i7_through_the_real_caller_a_busy_endpoint_is_asked_later_and_each_call_is_paid_for(
    dispute: Dispute, redis_client: Redis
) -> None:
    pytest.importorskip("openai")
    hearer = dispute.hearer
    verdict = {"holds": "second", "why": "She stopped.", "sources": [2]}
    with FakeModel(answer=[rate_limited(0), verdict]) as fake:
        llm = {"driver": "openai", "model": "fake", "base_url": fake.base_url, "api_key": "none"}
        settings = Settings.model_validate({"memory": {"llm": llm}})
        use = ModelUse.of(build_model(settings, hearer.engine, redis_client, lambda: hearer.now), settings.memory.llm)
        for outcome in ("unreachable", "adjudicated"):
            asking = adjudicate(hearer.engine, hearer.scope_id, use, run=4711, clock=lambda: hearer.now)
            assert asking is not None
            assert asking.counts == {outcome: 1}
        calls = hearer.sql("SELECT run_id, prompt, tokens_settled FROM slowwave.llm_calls")
        assert {(call.run_id, call.prompt) for call in calls} == {(4711, "adjudicate/1")}
        assert (len(calls), sum(call.tokens_settled for call in calls)) == (2, fake.tokens)
    assert dispute.conflict().decided_by == "model openai fake"
