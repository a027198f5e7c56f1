"""The model of pools and queues keeps the laws that every queue keeps, and says the same for the same seed."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.sizing.costs import Cost, Costs
from proof.sizing.outcome import Outcome
from proof.sizing.pipeline import ALL, Pipeline, Plan
from proof.sizing.queues import Pool
from proof.sizing.traffic import Traffic, Turn, schedule
from slowwave.settings import AutoFlush

FREE = Cost()
AT_ONCE = AutoFlush(turn_threshold=0, flush_interval_seconds=1000, batch_seconds=0)
SHORT = AutoFlush(turn_threshold=2, idle_seconds=2, max_dirty_age_seconds=20, flush_interval_seconds=1)


def only_flushes(seconds: float, spread: float) -> Costs:
    """Nothing but the worker's own time costs anything."""
    return Costs(*("none", FREE, FREE, Cost(seconds), FREE, FREE, FREE), spread=spread, wal_flush_seconds=0.0)


def run(plan: Plan, costs: Costs, traffic: Traffic, seconds: float, seed: int = 1) -> Outcome:
    return Pipeline(plan, costs, seed).run(schedule(traffic, seconds, seed), seconds)


def erlang_c_wait(servers: int, load: float, service: float) -> float:
    """The mean wait in M/M/c. load: arrivals a second times service time."""
    rho = load / servers
    waits = load**servers / math.factorial(servers) / (1 - rho)
    waits /= sum(load**n / math.factorial(n) for n in range(servers)) + waits
    return waits * service / (servers - load)


def test_with_nothing_but_slots_it_is_the_queue_that_erlang_solved() -> None:
    service, servers = 0.1, 4
    plan = Plan((Pool(servers, ALL),), rules=AT_ONCE)
    outcome = run(plan, only_flushes(service, 1.0), Traffic(30, 10_000_000, 1.0), 250)
    assert outcome.used["workers"] == pytest.approx(0.75, rel=0.05)
    measured = sum(outcome.waits) / len(outcome.waits)
    assert measured == pytest.approx(erlang_c_wait(servers, 30 * service, service), rel=0.15)


def test_littles_law_holds_of_turns_that_nobody_has_read() -> None:
    plan = Plan((Pool(2, ALL),), shared_cores=2, rules=SHORT)
    outcome = run(plan, Costs(), Traffic(60, 50), 60)
    in_system = outcome.turn_seconds / outcome.seconds
    rate = outcome.captured / outcome.seconds
    mean_lag = sum(lag for _, lag in outcome.lags) / len(outcome.lags)
    assert in_system == pytest.approx(rate * mean_lag, rel=0.1)
    assert outcome.captured == len(outcome.lags) + outcome.unread, "no turn is lost or read twice"


@settings(max_examples=8)
@given(seed=st.integers(0, 1000), limit=st.integers(1, 2), prompts=st.booleans(), failures=st.sampled_from([0.0, 0.2]))
def test_every_turn_is_read_once_whatever_happens(seed: int, limit: int, prompts: bool, failures: float) -> None:
    rules = SHORT.model_copy(update={"per_agent_concurrency": limit})
    pools = (Pool(1, ("flush.high",)), Pool(2, ALL))
    plan = Plan(pools, shared_cores=2, rules=rules, prompts=prompts, failure_rate=failures)
    last = 6.0
    turns = list(schedule(Traffic(20, 5), last, seed))
    outcome = Pipeline(plan, Costs(), seed).run(turns, 600)
    assert (outcome.captured, outcome.unread, len(outcome.lags)) == (len(turns), 0, len(turns))


def test_the_same_seed_says_the_same() -> None:
    plan = Plan((Pool(2, ALL),), shared_cores=2, rules=SHORT)
    first, second = (run(plan, Costs(), Traffic(30, 20), 10, seed=7) for _ in range(2))
    assert first == second
    assert first != run(plan, Costs(), Traffic(30, 20), 10, seed=8)


def test_commits_that_wait_together_share_a_write_of_the_log() -> None:
    costs = Costs(wal_flush_seconds=0.02)
    plan = Plan((Pool(2, ALL),), shared_cores=0, postgres_cores=8, rules=SHORT)
    outcome = run(plan, costs, Traffic(200, 500), 5)
    assert outcome.used["log"] <= 1.0
    assert outcome.commits / outcome.seconds > 2 / 0.02, "more commits than writes of the disk"


def test_one_busy_agent_has_its_own_limit_and_the_others_do_not_wait_for_it() -> None:
    plan = Plan((Pool(8, ALL),), rules=AT_ONCE)
    outcome = run(plan, only_flushes(0.1, 0.0), Traffic(40, 1000, 1.0, busy_share=0.5), 20)
    assert outcome.parked > 100
    assert outcome.lag(0.4) < 0.2, "the others' half"
    assert outcome.unread > 100, "one agent's sessions are read one at a time"


DEAR_MESSAGES = replace(only_flushes(0.1, 0.0), flush_taken=Cost(0.01))
"""A message's way costs nine times what a flush does."""


def backlog_read(batch_seconds: float) -> Outcome:
    """One worker with more than it can bear."""
    rules = AT_ONCE.model_copy(update={"batch_seconds": batch_seconds})
    return run(Plan((Pool(1, ALL),), rules=rules), DEAR_MESSAGES, Traffic(200, 10_000_000, 1.0), 10)


def test_with_a_backlog_a_worker_goes_on_with_what_waits_behind_its_message() -> None:
    alone, on = backlog_read(0.0), backlog_read(0.145)
    assert alone.flushes == pytest.approx(100, abs=2), "a message each"
    # In .15 s: the message's own flush, then five of .01 s, the last of which begins just before the time is up.
    assert on.flushes == pytest.approx(6 * 10 / 0.15, rel=0.05)
    said = [at for at, _ in on.lags]
    assert said == sorted(said), "in the order in which they were asked for"


def test_nothing_is_gone_on_with_while_something_urgent_waits() -> None:
    rules = AT_ONCE.model_copy(update={"batch_seconds": 10.0, "per_agent_concurrency": 1000})
    turns = [*(Turn(0.0, number, 100 + number) for number in range(50)), Turn(0.15, 50, 2), Turn(0.151, 51, 2)]
    plan = Plan((Pool(1, ALL),), rules=rules, prompts=True)
    outcome = Pipeline(plan, DEAR_MESSAGES, 1).run(turns, 5)
    read = {at: at + lag for at, lag in outcome.lags if at > 0.1}
    # The second prompt of agent 2 made its first session urgent: next after the flush under way, long before the fifty.
    assert read[0.15] < 0.3
    assert outcome.unread == 0


def test_traffic_comes_in_order_at_its_rate() -> None:
    turns = list(schedule(Traffic(100, 10), 100, 3))
    assert all(one.at <= other.at for one, other in pairwise(turns))
    assert len(turns) == pytest.approx(10_000, rel=0.1)
