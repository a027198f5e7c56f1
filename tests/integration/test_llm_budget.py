"""Budgets of models: never passed under any concurrency, whatever becomes of the calls (I7)."""

import threading
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, text

from slowwave.settings import Llm
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_calls import BudgetReached, Spender
from slowwave_server.models.engine import make_engine
from tests.support.budgeting import THURSDAY, Purse, at_once

pytestmark = pytest.mark.servers

MAYA = Spender("default", "maya")
FRIDAY = datetime(2026, 3, 6, tzinfo=UTC)
MONDAY = datetime(2026, 3, 9, tzinfo=UTC)


def test_i7_a_cap_is_named_with_its_end(engine: Engine) -> None:
    cases: tuple[tuple[Llm, str, datetime | None], ...] = (
        (Llm(daily_token_budget=100), "daily_token_budget", FRIDAY),
        (Llm(weekly_token_budget=100), "weekly_token_budget", MONDAY),
        (Llm(agent_daily_token_budget=100), "agent_daily_token_budget", FRIDAY),
        (Llm(agent_weekly_token_budget=100), "agent_weekly_token_budget", MONDAY),
        (Llm(daily_token_budget=100, weekly_token_budget=90), "weekly_token_budget", MONDAY),
        (Llm(max_calls_per_run=1), "max_calls_per_run", None),
    )
    for number, (caps, cap, until) in enumerate(cases, start=1):
        purse, spender = Purse(engine, caps), Spender(f"tenant {number}", "maya", number)
        purse.budget.settle(purse.reserve(spender, 60), "answered", 60)
        with pytest.raises(BudgetReached) as refused:
            purse.reserve(spender, 41)
        assert (refused.value.cap, refused.value.until) == (f"memory.llm.{cap}", until)
        assert purse.ledger(spender.tenant)[0] == 1


def test_i7_what_is_open_counts_and_what_was_not_needed_is_given_back(engine: Engine) -> None:
    purse = Purse(engine, Llm(daily_token_budget=100))
    first = purse.reserve(MAYA, 60)
    with pytest.raises(BudgetReached):
        purse.reserve(MAYA, 41)
    purse.budget.settle(first, "answered", 10)
    second = purse.reserve(MAYA, 90)
    purse.budget.release(second)
    assert purse.counted("default") == (1, 0, 0, 10)
    purse.reserve(MAYA, 90)


def test_i8_tenants_agents_and_runs_have_budgets_of_their_own(engine: Engine) -> None:
    purse = Purse(engine, Llm(daily_token_budget=200, agent_daily_token_budget=100, max_calls_per_run=1))
    purse.reserve(Spender("default", "maya", 1), 100)
    for spender in (Spender("default", "maya", 2), Spender("default", "jonas", 1)):
        with pytest.raises(BudgetReached):
            purse.reserve(spender, 1)
    purse.reserve(Spender("default", "jonas", 2), 90)
    purse.reserve(Spender("default", None), 10)
    with pytest.raises(BudgetReached):
        purse.reserve(Spender("default", None), 1)
    purse.reserve(Spender("other", "maya"), 100)
    assert purse.counted("default")[2] == 200
    assert purse.counted("other")[2] == 100


def test_i7_a_budget_of_zero_is_no_bound_and_a_call_above_its_cap_has_no_end_to_wait_for(engine: Engine) -> None:
    free = Purse(engine, Llm(daily_token_budget=0, weekly_token_budget=0, max_calls_per_run=0))
    for _ in range(3):
        free.reserve(Spender("default", "maya", 1), 10_000_000)
    with pytest.raises(BudgetReached) as refused:
        Purse(engine, Llm(daily_token_budget=100)).reserve(Spender("other"), 101)
    assert refused.value.until is None


def test_i7_a_call_counts_for_the_day_of_its_reservation(engine: Engine) -> None:
    purse = Purse(engine, Llm(daily_token_budget=100))
    purse.clock.now = FRIDAY - timedelta(seconds=1)
    late = purse.reserve(MAYA, 100)
    purse.clock.now = FRIDAY + timedelta(seconds=1)
    early = purse.reserve(MAYA, 100)
    purse.budget.settle(late, "answered", 70)
    with engine.connect() as connection:
        days = connection.execute(
            text(
                "SELECT starts, tokens_reserved, tokens_settled FROM slowwave.llm_usage"
                " WHERE agent = '' AND period = 'day' ORDER BY starts"
            )
        ).all()
    assert [tuple(day) for day in days] == [(THURSDAY.date(), 0, 70), (FRIDAY.date(), 100, 0)]
    purse.budget.settle(early, "answered", 1)
    assert purse.counted("default", period="week") == (2, 0, 0, 71)


def test_mistake_17_a_call_whose_worker_died_counts_in_full_until_it_is_known_better(engine: Engine) -> None:
    purse = Purse(engine, Llm(daily_token_budget=100))
    lost = purse.reserve(MAYA, 60, seconds=30)
    purse.clock.forward(seconds=31)
    with pytest.raises(BudgetReached):
        purse.reserve(MAYA, 41)
    purse.reserve(Spender("default", "jonas"), 10)
    assert purse.counted("default", "maya") == (1, 1, 0, 60)
    # It was only slow.
    purse.budget.settle(lost, "answered", 20)
    purse.budget.settle(lost, "failed", 99)
    assert purse.counted("default", "maya") == (1, 0, 0, 20)
    assert purse.counted("default") == purse.ledger("default") == (2, 0, 10, 20)


def test_i7_a_cost_is_counted_as_it_was_and_one_that_nobody_knows_as_it_was_reserved(engine: Engine) -> None:
    purse, other = Purse(engine, Llm(daily_token_budget=100)), Spender("other", "maya")
    purse.budget.settle(purse.reserve(other, 50), "answered", 500)
    assert purse.counted("other") == (1, 0, 0, 500)
    with pytest.raises(BudgetReached):
        purse.reserve(other, 1)
    purse.budget.settle(purse.reserve(MAYA, 50), "unanswered", None)
    purse.budget.settle(purse.reserve(MAYA, 50), "unanswered", 0)
    assert purse.counted("default") == (2, 2, 0, 50)
    with engine.connect() as connection:
        query = text("SELECT counted FROM slowwave.llm_calls WHERE tenant = 'default' ORDER BY tokens_settled")
        known = connection.execute(query).scalars()
        assert list(known) == [True, False]


def test_i7_a_reservation_that_is_sent_twice_is_made_once(engine: Engine) -> None:
    with engine.begin() as connection:
        for _ in range(2):
            row = connection.execute(
                text(
                    "SELECT * FROM slowwave.reserve_call('0a4b7c66-3b5e-4f2e-9d0c-0d8f7c0f1a11', 'default', 'maya',"
                    " NULL, 'extract', 'fake', 'extract/1', 60, now(), 60, 100, 0, 0, 0, 0)"
                )
            ).one()
            assert tuple(row) == (None, None)
    assert Purse(engine, Llm()).counted("default") == (1, 0, 60, 0)


def test_i7_reservations_at_once_never_pass_a_cap(engine: Engine) -> None:
    """Eight connections begin together, round after round, and each time there is room for one."""
    kinds = (
        Llm(daily_token_budget=100),
        Llm(weekly_token_budget=100),
        Llm(agent_daily_token_budget=100),
        Llm(max_calls_per_run=1),
    )
    rounds, workers = 24, 8
    together = threading.Barrier(workers, timeout=60)
    granted: Counter[int] = Counter()

    def work(_number: int) -> None:
        own = make_engine(engine.url.render_as_string(hide_password=False))
        purses = [Purse(own, caps) for caps in kinds]
        for turn in range(rounds):
            together.wait()
            try:
                purses[turn % len(kinds)].reserve(Spender(f"round {turn}", "maya", turn), 60)
            except BudgetReached:
                continue
            granted[turn] += 1
        own.dispose()

    at_once(work, workers)
    assert granted == dict.fromkeys(range(rounds), 1)
    purse = Purse(engine, Llm())
    for turn in range(rounds):
        assert purse.counted(f"round {turn}") == purse.ledger(f"round {turn}") == (1, 0, 60, 0)


def test_a_tenant_does_not_wait_for_another(engine: Engine) -> None:
    purse = Purse(engine, Llm())
    held = purse.reserve(Spender("busy"), 10)
    with engine.begin() as connection:
        connection.execute(text("SELECT slowwave.settle_call(:id, 'busy', 'answered', 5, now())"), {"id": held.id})
        purse.reserve(Spender("default"), 10)  # would time out behind the open transaction
    assert purse.counted("default")[2] == 10


def test_i7_without_postgres_nothing_is_spent() -> None:
    nowhere = make_engine("postgresql://slowwave@127.0.0.1:1/slowwave", pre_ping=False)
    with pytest.raises(TransientError, match="can't be reserved"):
        Purse(nowhere, Llm()).reserve(MAYA, 10)
