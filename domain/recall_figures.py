"""Measure how well a search finds the evidence for questions: metrics of each, means and standard errors."""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

DEPTHS = (5, 10, 20)
BUDGETS = (500, 1000, 2000)
MRR = "MRR"
FIRST_HITS = (*(f"any@{depth}" for depth in DEPTHS), f"all@{DEPTHS[-1]}", MRR)
"""The metrics of a ranked list, by the number of its hits."""
WITHIN_TOKENS = tuple(f"{what} in {budget:,} tokens" for what in ("any", "all") for budget in BUDGETS)
"""The metrics within a token budget, by budget."""
FIGURES = (*FIRST_HITS, *WITHIN_TOKENS)

Figures = Mapping[str, float]
"""The metrics of one question, by name: 1 or 0, and for the MRR a reciprocal rank."""


class Shown(NamedTuple):
    """One hit as a prompt shows it. sources: the ids of the events that say it; tokens: its length in tokens."""

    sources: frozenset[str]
    tokens: int


class Estimate(NamedTuple):
    """A mean over questions. error: its standard error, or None for a single question."""

    mean: float
    error: float | None
    questions: int


def judge_hits(hits: Sequence[Shown], evidence: AbstractSet[str]) -> Figures:
    """Return the metrics of a ranked list. Within a token budget, hits count in order until one does not fit."""
    figures: dict[str, float] = {}
    for depth in DEPTHS:
        seen = frozenset[str]().union(*(hit.sources for hit in hits[:depth]))
        figures[f"any@{depth}"] = float(bool(seen & evidence))
        if depth == DEPTHS[-1]:
            figures[f"all@{depth}"] = float(evidence <= seen)
    ranks = (rank for rank, hit in enumerate(hits, 1) if hit.sources & evidence)
    figures[MRR] = 1 / next(ranks, math.inf)
    return {**figures, **judge_budgets({budget: sources_within(hits, budget) for budget in BUDGETS}, evidence)}


def judge_budgets(sources: Mapping[int, AbstractSet[str]], evidence: AbstractSet[str]) -> Figures:
    """Return the metrics of the text within each budget. sources: the ids of the shown events, by budget."""
    found = {f"any in {budget:,} tokens": float(bool(shown & evidence)) for budget, shown in sources.items()}
    return found | {f"all in {budget:,} tokens": float(evidence <= shown) for budget, shown in sources.items()}


def sources_within(hits: Sequence[Shown], budget: int) -> frozenset[str]:
    """Return the sources of the first hits that fit in a budget."""
    seen: set[str] = set()
    for hit in hits:
        budget -= hit.tokens
        if budget < 0:
            break
        seen |= hit.sources
    return frozenset(seen)


def estimate_mean(values: Sequence[float], groups: Sequence[str]) -> Estimate:
    """Return the mean of some values with its standard error. groups: the agent of each value.

    Questions of one agent share its conversations, so they are not an independent sample. With several agents the
    error is clustered by agent; with one agent it is the error of independent questions.
    """
    count = len(values)
    mean = math.fsum(values) / count
    if count == 1:
        return Estimate(mean, None, count)
    deviations: dict[str, float] = {}
    for value, group in zip(values, groups, strict=True):
        deviations[group] = deviations.get(group, 0.0) + value - mean
    if len(deviations) > 1:
        clusters = len(deviations)
        square = math.fsum(total * total for total in deviations.values()) * clusters / (clusters - 1)
    else:
        square = math.fsum((value - mean) ** 2 for value in values) * count / (count - 1)
    return Estimate(mean, math.sqrt(square) / count, count)
