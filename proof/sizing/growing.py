"""The model run to many workers: what they read at most, and what is full first.

Must not know: how the costs were measured, how the figures are shown.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from proof.sizing.costs import Costs
from proof.sizing.outcome import Outcome
from proof.sizing.pipeline import ALL, Pipeline, Plan
from proof.sizing.queues import Pool
from proof.sizing.traffic import Traffic, schedule
from slowwave.settings import AutoFlush

FULL = 0.9
TURNS = 4_000
SEED = 5
OVER = 1.5
"""So much more comes in than the fullest part could take."""

_WORDS = {
    "slots": "the workers: all slots are taken",
    "workers": "the workers' cores",
    "postgres": "the cores of Postgres",
    "valkey": "the one thread of Valkey",
    "log": "the disk under the log of Postgres",
}


@dataclass(frozen=True, slots=True)
class Case:
    """One curve. agents: among how many the conversations are divided; model_seconds: 0 for rules.

    by_sweep: sessions fall due by being quiet, so that only sweeps find them; else each turn is due at once.
    """

    name: str
    workers: tuple[int, ...]
    postgres_cores: int
    model_seconds: float = 0.0
    agents: int = 1_000_000
    per_agent: int = 1
    by_sweep: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """What so many workers read at most (windows of one turn, a second), and what was full first."""

    case: str
    workers: int
    flushes_per_second: float
    offered: float
    full: str
    used: dict[str, float]

    def to_json(self) -> dict[str, object]:
        """As the report keeps it."""
        return asdict(self)


def cases(most: int) -> tuple[Case, ...]:
    """The curves, to so many workers."""
    steps = (*(step for step in (1, 4, 16, 64, 250) if step < most), most)
    return (
        Case("rules, 4 cores for Postgres", steps, 4),
        Case("rules, 32 cores for Postgres", steps, 32),
        Case("a model that takes 3 s, 4 cores for Postgres", steps, 4, 3.0),
        Case("a model that takes 3 s, 100 agents", steps, 4, 3.0, agents=100),
        Case("the same, four flushes an agent at once", steps, 4, 3.0, agents=100, per_agent=4),
        Case("rules, found by sweeps alone, 4 cores for Postgres", steps, 4, by_sweep=True),
    )


def grow(costs: Costs, case: Case, turns: int = TURNS) -> Iterator[Point]:
    """One point a number of workers, each from about so many turns."""
    for workers in case.workers:
        yield _point(costs, case, workers, turns)


def _point(costs: Costs, case: Case, workers: int, turns: int) -> Point:
    rules = AutoFlush(per_agent_concurrency=case.per_agent, turn_threshold=0, idle_seconds=600)
    if case.by_sweep:
        rules = AutoFlush(turn_threshold=1000, idle_seconds=1)
    offered = OVER * bound(costs, case, workers)
    seconds = max(turns / offered, 8 * case.model_seconds, 3 * rules.flush_interval_seconds if case.by_sweep else 0.0)
    plan = Plan(
        (Pool(workers, ALL),), postgres_cores=case.postgres_cores, model_seconds=case.model_seconds, rules=rules
    )
    traffic = Traffic(offered, case.agents, turns=1.0)
    outcome = Pipeline(plan, costs, SEED).run(schedule(traffic, seconds, SEED), seconds)
    half = seconds / 2
    rate = sum(at + lag >= half for at, lag in outcome.lags) / half
    return Point(case.name, workers, rate, offered, _full(outcome), outcome.used)


def _full(outcome: Outcome) -> str:
    for name in ("valkey", "postgres", "slots"):
        if outcome.used[name] >= FULL:
            return _WORDS[name]
    if outcome.parked > outcome.flushes / 5:
        return "agents: each at its limit"
    return _WORDS["log"] if outcome.used["log"] >= FULL else "nothing: turns wait to be due"


def bound(costs: Costs, case: Case, workers: int) -> float:
    """Flushes a second that no part could exceed, each with the turn that it reads; by rules, each gone on with."""
    flush = costs.flush if case.model_seconds else costs.flush_taken
    slot = flush.caller + flush.postgres + case.model_seconds
    postgres = costs.capture.postgres + flush.postgres + (costs.sweep.postgres if case.by_sweep else 0.0)
    valkey = flush.valkey + costs.offer.valkey
    return min(workers / slot, case.postgres_cores / postgres, 1 / valkey if valkey else float("inf"))
