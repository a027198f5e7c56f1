"""Compute the statistics of a run: percentiles, slopes, verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

FLAT_MB_PER_10_MINUTES = 1.0
"""A process whose memory rises by less is flat."""

WARM_UP_SHARE = 1 / 3
"""Of a series: caches fill first, so slopes are taken over what comes after."""

NOISE_CORES = 0.25
"""With more than that taken by other programs a machine is not quiet, and its figures say little."""

FULL_SHARE = 0.9
"""Of what there is of something: who uses more of it is at its end."""


def percentile(values: Sequence[float], share: float) -> float | None:
    """Return the smallest value that at least `share` (0..1) of the values do not exceed; None without values."""
    if not values:
        return None
    return float(np.percentile(np.asarray(values), share * 100, method="inverted_cdf"))


def spread(values: Sequence[float]) -> dict[str, float | None]:
    """Return {"p50", "p95", "p99", "max"} of some values."""
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    return {name: percentile(values, share) for name, share in shares.items()}


def slope(times: Sequence[float], values: Sequence[float]) -> float:
    """Return the rise of `values` per unit of `times`: the median of the slopes of all pairs (Theil and Sen).

    A few outliers do not change it. 0.0 for fewer than two samples.
    """
    if len(set(times)) < 2:
        return 0.0
    from scipy import stats  # noqa: PLC0415 (a second, which each process of the test suite would pay)

    return float(stats.theilslopes(np.asarray(values), np.asarray(times))[0])


def after_warm_up(series: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """Return the samples (time, value) of the last two thirds of the time."""
    if not series:
        return series
    first, last = series[0][0], series[-1][0]
    return [sample for sample in series if sample[0] >= first + (last - first) * WARM_UP_SHARE]


def rise_in_10_minutes(series: Sequence[tuple[float, float]]) -> float:
    """Return the slope of (seconds, value) after warm-up, in units of value per 10 minutes."""
    kept = after_warm_up(series)
    return slope([at for at, _ in kept], [value for _, value in kept]) * 600


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits within which a load counts as carried.

    growth: by how much of a second's turns the number of due, unflushed sessions may rise per second; a rise of `least`
    is always allowed, because sweeps cause a sawtooth. p95_due: the 95th percentile of the seconds from due to
    committed. p95_late: the 95th percentile of the seconds by which hooks began late, because a load with late hooks
    was not fully offered.
    """

    growth: float = 0.05
    least: float = 0.5
    p95_due: float = 10.0
    p95_late: float = 0.5


def why_not_carried(
    bounds: Bounds,
    *,
    load: float,
    backlog: Sequence[tuple[float, float]],
    p95_due: float | None,
    p95_late: float | None,
    left: int,
) -> list[str]:
    """Return in words why a step of `load` turns per second was not carried; nothing if it was.

    backlog: (seconds, due and unflushed sessions) during the step. left: the number of turns that were never flushed.
    """
    reasons = []
    kept = after_warm_up(backlog)
    growth = slope([at for at, _ in kept], [value for _, value in kept])
    if growth > max(bounds.growth * load, bounds.least):
        reasons.append(f"the backlog grows by {growth:.1f} sessions a second")
    if p95_due is None or p95_due > bounds.p95_due:
        reasons.append("nothing was flushed" if p95_due is None else f"p95 from due to memory is {p95_due:.1f} s")
    if p95_late is not None and p95_late > bounds.p95_late:
        reasons.append(f"p95 of the hooks begins {p95_late:.1f} s late")
    if left:
        reasons.append(f"{left} turns were left")
    return reasons


def next_load(tried: Mapping[float, bool], *, first: float, factor: float, closeness: float) -> float | None:
    """Return the next load to try: increase by `factor` until one is not carried, then between the bounds.

    tried: load → True if it was carried. None: the highest carried one is within `closeness` (1.2: 20 %) of the lowest
    one that was not.
    """
    if not tried:
        return first
    failed = [load for load, carried in tried.items() if not carried]
    carried = [load for load, was in tried.items() if was and (not failed or load < min(failed))]
    if not failed:
        return float(round(max(carried) * factor))
    if not carried:
        low = min(failed) / factor
        return float(round(low)) if low >= 1 else None
    if min(failed) / max(carried) <= closeness:
        return None
    between = float(round((min(failed) * max(carried)) ** 0.5))
    return None if between in tried else between


def saturation(tried: Mapping[float, bool]) -> float | None:
    """Return the highest load below the first that was not carried; None if none was carried."""
    failed = min((load for load, carried in tried.items() if not carried), default=float("inf"))
    return max((load for load, carried in tried.items() if carried and load < failed), default=None)


def bottleneck(
    cores: Mapping[str, float], *, machine: float, waiting: float, children: Mapping[str, float], others: float
) -> str:
    """Return in words what limited a load.

    cores: group of processes → cores that it used; others: cores used by other processes. machine: the used share of
    all cores;
    waiting: the share that waited for the disk. children: child of a pool → share of its time on a core.
    """
    if others > NOISE_CORES:
        return f"unknown: other programs kept {others:.1f} cores busy meanwhile"
    order = sorted(cores.items(), key=lambda item: -item[1])
    parts = ", ".join(f"{name} {used:.2f}" for name, used in order if used >= 0.01)
    if machine >= FULL_SHARE:
        return f"the CPU of the machine ({machine:.0%} busy); in cores: {parts}"
    if waiting >= 0.3:
        return f"the disk (the machine waits for it {waiting:.0%} of its time); in cores: {parts}"
    if children and min(children.values()) >= FULL_SHARE:
        return f"the workers' children, each busy at least {min(children.values()):.0%}; in cores: {parts}"
    return f"none of CPU ({machine:.0%} busy), disk and children alone; in cores: {parts}"


def evenness(counts: Sequence[float]) -> float | None:
    """Return Jain's index of shares: 1.0 if all are equal, 1/n if one has everything; None if all are 0."""
    if not counts or not any(counts):
        return None
    total = sum(counts)
    return total * total / (len(counts) * sum(count * count for count in counts))


def ratio(this: float | None, that: float | None) -> float | None:
    """Return this / that; None if either is missing or `that` is 0."""
    return None if this is None or not that else this / that
