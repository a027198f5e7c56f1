"""Part "lag": find the highest load that the system carries, then measure once more at four fifths of that load.

The offered load rises in steps until one is not carried; further steps narrow the two bounds.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from proof.load.deployment import Deployment
from proof.load.figures import Bounds, bottleneck, next_load, saturation, why_not_carried
from proof.load.traffic import Shape, plan
from proof.load.trial import SHORT_WAITS, backlog, run, summary

AGENTS = 200
WARM_UP_LOAD = 20.0


@dataclass(frozen=True, slots=True)
class Size:
    """Sizes. The seconds of a step and of the warm-up, the first load (turns per second), the factor of increase, the
    final closeness of the bounds, the highest number of steps, the longest time to settle, and the seconds after which
    no further step begins.
    """

    seconds: float = 30.0
    warm_up: float = 8.0
    first: float = 15.0
    factor: float = 2.0
    closeness: float = 1.25
    steps: int = 7
    settle: float = 40.0
    enough: float = 330.0


Save = Callable[[dict[str, Any]], None]
"""Hears what is known so far, after each step."""


def measure(size: Size, *, changed: dict[str, object], seed: int, save: Save) -> dict[str, Any]:
    """Find the saturation point. Return every step."""
    changed = SHORT_WAITS | changed
    result: dict[str, Any] = {"agents": AGENTS, "seconds": size.seconds, "changed": changed, "steps": []}
    with Deployment(changed) as deployment:
        deployment.start_workers()
        _step(deployment, size, WARM_UP_LOAD, name="warm", seconds=size.warm_up, seed=seed)
        tried: dict[float, bool] = {}
        load: float | None = size.first
        deadline = time.monotonic() + size.enough
        while load is not None and len(tried) < size.steps and time.monotonic() < deadline:
            step = _step(deployment, size, load, name=f"step{len(tried)}", seconds=size.seconds, seed=seed + len(tried))
            tried[load] = not step["why"]
            result["steps"].append(step)
            result["saturation"] = saturation(tried)
            save(result)
            load = next_load(tried, first=size.first, factor=size.factor, closeness=size.closeness)
        result["bounded"] = load is None
        if result["saturation"]:
            four_fifths = result["saturation"] * 0.8
            result["at_80"] = _step(deployment, size, four_fifths, name="eighty", seconds=size.seconds, seed=seed + 99)
        result["died"] = deployment.died
    save(result)
    return result


def _step(deployment: Deployment, size: Size, load: float, *, name: str, seconds: float, seed: int) -> dict[str, Any]:
    hooks = plan(Shape(), load=load, seconds=seconds, weights=[1.0] * AGENTS, seed=seed)
    trial = run(deployment, hooks, name=name, seconds=seconds, settle_seconds=size.settle, seed=seed)
    figures = summary(trial)
    rising = backlog(trial, seconds)
    offered = figures["turns"] / seconds
    parts = figures["parts"]
    why = why_not_carried(
        Bounds(),
        load=offered,
        backlog=rising,
        p95_due=parts["from_due"]["p95"],
        p95_late=parts["late"]["p95"],
        left=figures["left"],
    )
    cores = trial.cores
    reached = bottleneck(
        cores.groups, machine=cores.busy, waiting=cores.waiting, children=cores.children, others=cores.others
    )
    print(f"{load:6.0f} turns/s: {'carried' if not why else '; '.join(why)}", flush=True)
    return figures | {
        "load": load,
        "offered": offered,
        "why": why,
        "backlog": [(round(at, 1), due) for at, due in rising],
        "bottleneck": reached,
    }
