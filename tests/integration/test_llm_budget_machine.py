"""Any sequence of reservations, ends, deaths and midnights: the counters are what the calls come to, below the caps."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from slowwave.settings import Llm
from slowwave_server.domain.model_calls import BudgetReached, Spender
from slowwave_server.services.llm.budget import Reservation
from tests.support.budgeting import THURSDAY, Purse, SetClock

pytestmark = pytest.mark.servers

CAPS = Llm(
    daily_token_budget=300,
    weekly_token_budget=700,
    agent_daily_token_budget=200,
    agent_weekly_token_budget=500,
    max_calls_per_run=4,
)
SECONDS = 60
STEP = st.one_of(
    st.tuples(
        st.just("reserve"), st.sampled_from([None, "maya", "jonas"]), st.sampled_from([None, 1, 2]), st.integers(1, 250)
    ),
    st.tuples(st.just("settle"), st.integers(0, 9), st.sampled_from([None, 0, 0.5, 1, 1.5])),
    st.tuples(st.just("release"), st.integers(0, 9)),
    st.tuples(st.just("wait"), st.sampled_from([1, SECONDS, 86_400, 3 * 86_400])),
)


class Call:
    """What a call counts for, as far as a reader of the rules would say."""

    def __init__(self, reservation: Reservation, spender: Spender, at: datetime) -> None:
        self.reservation = reservation
        self.spender = spender
        self.at = at
        self.settled: int | None = None
        self.ended = False

    def weight(self, now: datetime) -> int:
        return self.reservation.tokens if self.settled is None or self.lost(now) else self.settled

    def lost(self, now: datetime) -> bool:
        return not self.ended and now >= self.at + timedelta(seconds=SECONDS)


class Books:
    """The budget of one tenant, and the same in Python."""

    def __init__(self, engine: Engine) -> None:
        self.purse = Purse(engine, CAPS, SetClock(THURSDAY))
        self.tenant = uuid4().hex
        self.calls: list[Call] = []

    @property
    def now(self) -> datetime:
        return self.purse.clock.now

    def used(self, *, agent: str | None, week: bool) -> int:
        def starts(at: datetime) -> datetime:
            day = at.replace(hour=0, minute=0, second=0)
            return day - timedelta(days=day.weekday()) if week else day

        mine = [call for call in self.calls if agent is None or call.spender.agent == agent]
        return sum(call.weight(self.now) for call in mine if starts(call.at) == starts(self.now))

    def fits(self, agent: str | None, run: int | None, tokens: int) -> bool:
        if run is not None and sum(call.spender.run == run for call in self.calls) >= CAPS.max_calls_per_run:
            return False
        bounds = [(None, False, CAPS.daily_token_budget), (None, True, CAPS.weekly_token_budget)]
        if agent is not None:
            bounds += [(agent, False, CAPS.agent_daily_token_budget), (agent, True, CAPS.agent_weekly_token_budget)]
        return all(self.used(agent=who, week=week) + tokens <= cap for who, week, cap in bounds)

    def reserve(self, agent: str | None, run: int | None, tokens: int) -> None:
        # Runs have numbers of their own over all tenants.
        number = None if run is None else int(self.tenant[:12], 16) * 10 + run
        try:
            reservation = self.purse.reserve(Spender(self.tenant, agent, number), tokens, seconds=SECONDS)
        except BudgetReached:
            assert not self.fits(agent, run, tokens)
            return
        assert self.fits(agent, run, tokens)
        self.calls.append(Call(reservation, Spender(self.tenant, agent, run), self.now))

    def settle(self, place: int, share: float | None) -> None:
        if place < len(self.calls):
            call = self.calls[place]
            tokens = None if share is None else int(share * call.reservation.tokens)
            self.purse.budget.settle(call.reservation, "answered", tokens)
            if not call.ended:
                call.settled = call.reservation.tokens if tokens is None else tokens
                call.ended = True

    def release(self, place: int) -> None:
        if place < len(self.calls):
            call = self.calls[place]
            self.purse.budget.release(call.reservation)
            if not call.ended:
                self.calls.remove(call)

    def wait(self, seconds: int) -> None:
        self.purse.clock.forward(seconds=seconds)

    def check(self) -> None:
        calls, _, reserved, settled = self.purse.counted(self.tenant)
        assert (calls, reserved + settled) == (len(self.calls), sum(call.weight(self.now) for call in self.calls))
        assert self.purse.counted(self.tenant) == self.purse.counted(self.tenant, period="week")
        assert self.purse.counted(self.tenant) == self.purse.ledger(self.tenant)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, min_size=3, max_size=20))
def test_i7_counters_are_what_the_calls_come_to(engine: Engine, steps: list[tuple[Any, ...]]) -> None:
    books = Books(engine)
    for name, *arguments in steps:
        getattr(books, name)(*arguments)
    books.check()
