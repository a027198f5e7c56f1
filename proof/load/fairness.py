"""Part "fairness": does an agent with a hundred times the traffic of each other agent make the others wait longer?

The part measures the lag of 49 agents under three kinds of traffic:

    alike     fifty agents with equal traffic, the base load
    loud      the same, but one of the fifty agents, the loud one, has a hundred times its traffic
    as much   fifty agents with equal traffic, in total as much as in "loud"

One run measures the kinds in turn and repeats the three (alike, loud, as much, alike, loud, as much), because the speed
of a machine changes from minute to minute. The loud agent has its own producer process, as if on a separate host.

If the others wait longer in "loud" than in "alike", but no longer than in "as much", the cause is the total load of the
machine, and the system is fair.

The base load is a quarter of the machine's capacity (the highest load that the part "lag" found to be carried). The
loud agent has twice the traffic of all fifty agents, half of the capacity. Slowwave flushes one agent's sessions one at
a time, so the loud agent's flushes occupy one process at most. Base load and loud agent together fit the machine, so a
longer wait of the others is unfair. A base load of half the capacity would not do: the total would be one and a half
times the capacity, and hooks would wait for the CPU whatever the flushes do.

The part also counts the flushes of the loud agent that begin while another agent's turn waits. A slow machine does not
raise this number.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from proof.load.crowd import by_session
from proof.load.deployment import Deployment
from proof.load.figures import percentile, ratio
from proof.load.lags import TOLD, Turn
from proof.load.traffic import Shape, plan
from proof.load.trial import SHORT_WAITS, Trial, backlog, lags_of, run, summary

AGENTS = 50
LOUD = 0
TIMES = 100.0
RATIO_BOUND = 1.5

Kind = Literal["alike", "loud", "as much"]
KINDS: tuple[Kind, ...] = ("alike", "loud", "as much")


@dataclass(frozen=True, slots=True)
class Size:
    """Sizes. The seconds of a stretch, the number of stretches of each kind, the longest time to settle, and the
    seconds of warm-up.
    """

    seconds: float = 25.0
    rounds: int = 2
    settle: float = 60.0
    warm_up: float = 8.0


def measure(
    size: Size, *, load: float, changed: dict[str, object], seed: int, save: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Run the three kinds in turn at `load` turns per second of the fifty agents. Return every stretch and the
    ratios.
    """
    changed = SHORT_WAITS | changed
    result: dict[str, Any] = {"load": load, "agents": AGENTS, "times": TIMES, "bound": RATIO_BOUND, "changed": changed}
    quiet = {agent: True for agent in range(AGENTS) if agent != LOUD}
    stretches: list[dict[str, Any]] = []
    pooled: dict[Kind, list[Trial]] = {kind: [] for kind in KINDS}
    with Deployment(changed) as deployment:
        deployment.start_workers()
        _stretch(deployment, size, load, kind="alike", name="warm", seconds=size.warm_up, seed=seed)
        for number in range(len(KINDS) * size.rounds):
            kind = KINDS[number % len(KINDS)]
            name = f"fair{number}"
            # In one round, the other agents say the same at the same times, with and without a loud agent.
            this = seed + 1 + number // len(KINDS)
            trial = _stretch(deployment, size, load, kind=kind, name=name, seconds=size.seconds, seed=this)
            pooled[kind].append(trial)
            stretches.append(figures_of(trial, quiet, size) | {"kind": kind})
            result |= {"stretches": stretches, "compared": compared(pooled, quiet)}
            save(result)
        result["died"] = deployment.died
    return result


def _stretch(
    deployment: Deployment, size: Size, load: float, *, kind: Kind, name: str, seconds: float, seed: int
) -> Trial:
    whole = load * (1 + (TIMES - 1) / AGENTS)
    shared = whole if kind == "as much" else load
    hooks = plan(Shape(), load=shared, seconds=seconds, weights=[1.0] * AGENTS, seed=seed)
    if kind == "loud":
        # The rest of its traffic: separate sessions, beside its equal share.
        more = plan(Shape(), load=load / AGENTS * (TIMES - 1), seconds=seconds, weights=[1.0], seed=seed + 1000)
        first = 1 + max(hook.session for hook in hooks)
        hooks = sorted([*hooks, *(hook._replace(agent=LOUD, session=hook.session + first) for hook in more)])
    # Producers 0 and 1 belong to the others, 2 to the loud agent.
    return run(
        deployment,
        hooks,
        name=name,
        seconds=seconds,
        settle_seconds=size.settle,
        deal=lambda hook: 2 if hook.agent == LOUD else by_session(hook),
        seed=seed,
    )


def figures_of(trial: Trial, quiet: dict[int, bool], size: Size) -> dict[str, Any]:
    """Return the figures of a stretch, those of the other agents (a function of the number) separately."""
    others = [turn for turn in trial.turns if turn.agent in quiet]
    figures = summary(trial)
    lags = {"all": lags_of(others, quiet, told=False), "told": lags_of(others, quiet, told=True)}
    hooks = [turn.hook for turn in others]
    between = begun_between(others, [turn for turn in trial.turns if turn.agent == LOUD])
    return figures | {
        "others": {
            "turns": len(others),
            "left": sum(turn.from_due is None for turn in others),
            "p95_all": percentile(lags["all"], 0.95),
            "p95_told": percentile(lags["told"], 0.95),
            "p50_told": percentile(lags["told"], 0.5),
            "p95_hook": percentile(hooks, 0.95),
            "p50_between": percentile(between, 0.5),
            "p95_between": percentile(between, 0.95),
        },
        "backlog": [(round(at, 1), due) for at, due in backlog(trial, size.seconds)],
    }


def begun_between(others: Sequence[Turn], loud: Sequence[Turn]) -> list[float]:
    """Return for each requested turn of `others` the number of flushes of `loud` that began after its due time and
    before its own flush.
    """
    begins = sorted({turn.due + turn.queue for turn in loud if turn.due is not None and turn.queue is not None})
    return [
        float(bisect_left(begins, turn.due + turn.queue) - bisect_right(begins, turn.due))
        for turn in others
        if turn.due is not None and turn.queue is not None and turn.asked in TOLD
    ]


def compared(trials: dict[Kind, list[Trial]], quiet: dict[int, bool]) -> dict[str, Any]:
    """Return the p95 of the quiet agents over all stretches, for three kinds of traffic, and two ratios.

    without: no agent is loud; with: one is; as_much: all agents send as much together. ratio: with / without;
    to_as_much: with / as_much. By measure: all: the lag of all turns; told: of requested turns; hook: the hook's
    duration.
    """
    found: dict[str, Any] = {}
    for what in ("all", "told", "hook"):
        values = {}
        for kind, those in trials.items():
            turns = [turn for trial in those for turn in trial.turns if turn.agent in quiet]
            lags = [t.hook for t in turns] if what == "hook" else lags_of(turns, quiet, told=what == "told")
            values[kind] = percentile(lags, 0.95)
        without, loud, as_much = (values.get(kind) for kind in KINDS)
        found[what] = {"without": without, "with": loud, "as_much": as_much}
        found[what] |= {"ratio": ratio(loud, without), "to_as_much": ratio(loud, as_much)}
    return found
