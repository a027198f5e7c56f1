"""Part "fairness": fifty agents of equal load; then one of them with a hundred times its traffic. The others' lag.

Both are measured in one run, in turns (A B A B), since machines change from minute to minute. The loud agent has a
producer of its own: it is somebody else's host.

The fifty offer a quarter of what the system carries. A hundred times the traffic of one of fifty is twice that of all
of them together: the loud one offers half of what the system carries, and its flushes, one at a time, may take one
process and no more. So base and loud agent fit beside each other, and what the others wait more is unfair. (A base of
a half would offer one and a half times what there is: then hooks wait for the processors whatever flushes do.)

How many flushes of the loud agent begin while a turn of another one waits is counted beside the times: a number that a
slow machine does not raise.

Must not know: how the report looks.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Size:
    """seconds of a stretch, how many pairs of them, how long one may take to settle, seconds of warm-up."""

    seconds: float = 25.0
    pairs: int = 2
    settle: float = 60.0
    warm_up: float = 8.0


def measure(
    size: Size, *, load: float, changed: dict[str, object], seed: int, save: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Run both in turns at `load` turns a second of the fifty; answer every stretch and the ratios of the p95."""
    changed = SHORT_WAITS | changed
    result: dict[str, Any] = {"load": load, "agents": AGENTS, "times": TIMES, "bound": RATIO_BOUND, "changed": changed}
    quiet = {agent: True for agent in range(AGENTS) if agent != LOUD}
    stretches: list[dict[str, Any]] = []
    pooled: dict[bool, list[Trial]] = {False: [], True: []}
    with Deployment(changed) as deployment:
        deployment.start_workers()
        _stretch(deployment, size, load, loud=False, name="warm", seconds=size.warm_up, seed=seed)
        for number in range(2 * size.pairs):
            loud = number % 2 == 1
            name = f"fair{number}"
            # Of a pair, the others say the same at the same moments.
            trial = _stretch(
                deployment, size, load, loud=loud, name=name, seconds=size.seconds, seed=seed + 1 + number // 2
            )
            pooled[loud].append(trial)
            stretches.append(figures_of(trial, quiet, size) | {"loud": loud})
            result |= {"stretches": stretches, "compared": compared(pooled, quiet)}
            save(result)
        result["died"] = deployment.died
    return result


def _stretch(
    deployment: Deployment, size: Size, load: float, *, loud: bool, name: str, seconds: float, seed: int
) -> Trial:
    hooks = plan(Shape(), load=load, seconds=seconds, weights=[1.0] * AGENTS, seed=seed)
    if loud:
        # The rest of its traffic: sessions of their own, beside its equal part.
        more = plan(Shape(), load=load / AGENTS * (TIMES - 1), seconds=seconds, weights=[1.0], seed=seed + 1000)
        first = 1 + max(hook.session for hook in hooks)
        hooks = sorted([*hooks, *(hook._replace(agent=LOUD, session=hook.session + first) for hook in more)])
    # Producers 0 and 1 are the others', 2 is the loud agent's.
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
    """Answer a stretch in figures, those of the other agents (number → whether it is one) apart."""
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
    """Answer, of each turn of `others` that was asked for, how many flushes of `loud` began after it was due and before
    its own did.
    """
    begins = sorted({turn.due + turn.queue for turn in loud if turn.due is not None and turn.queue is not None})
    return [
        float(bisect_left(begins, turn.due + turn.queue) - bisect_right(begins, turn.due))
        for turn in others
        if turn.due is not None and turn.queue is not None and turn.asked in TOLD
    ]


def compared(trials: dict[bool, list[Trial]], quiet: dict[int, bool]) -> dict[str, Any]:
    """Answer the p95 of the others without and with the loud agent, over all stretches, and their ratio, by measure:
    all turns, those that were asked for (told), and the hook itself.
    """
    found: dict[str, Any] = {}
    for what in ("all", "told", "hook"):
        values = {}
        for loud, kind in trials.items():
            turns = [turn for trial in kind for turn in trial.turns if turn.agent in quiet]
            lags = [t.hook for t in turns] if what == "hook" else lags_of(turns, quiet, told=what == "told")
            values[loud] = percentile(lags, 0.95)
        found[what] = {"without": values[False], "with": values[True], "ratio": ratio(values[True], values[False])}
    return found
