"""The figures of recall: one question, and means with standard errors."""

import math

import pytest

from slowwave_server.domain.recall_figures import Shown, estimate_mean, judge_budgets, judge_hits

EVIDENCE = frozenset({"a", "b"})


def hits(*names: str, tokens: int = 100) -> list[Shown]:
    return [Shown(frozenset(name), tokens) for name in names]


def test_figures_count_any_and_all_of_the_evidence() -> None:
    figures = judge_hits(hits(*"xxxxxa"), EVIDENCE)
    assert (figures["any@5"], figures["any@10"], figures["all@20"], figures["MRR"]) == (0, 1, 0, 1 / 6)
    assert judge_hits(hits("x", "ab"), EVIDENCE)["all@20"] == 1
    assert judge_hits([], EVIDENCE)["MRR"] == 0


def test_budget_takes_hits_until_one_has_no_room() -> None:
    found = [*hits("x", tokens=450), *hits("a", tokens=51), *hits("b", tokens=1)]
    figures = judge_hits(found, EVIDENCE)
    assert figures["any in 500 tokens"] == 0, "b would have room, but a stands before it"
    assert figures["all in 1,000 tokens"] == 1


def test_budgets_are_judged_by_what_each_shows() -> None:
    figures = judge_budgets({500: frozenset("x"), 1000: frozenset("ax")}, EVIDENCE)
    assert figures == {
        "any in 500 tokens": 0,
        "any in 1,000 tokens": 1,
        "all in 500 tokens": 0,
        "all in 1,000 tokens": 0,
    }


def test_error_of_one_agent_is_that_of_independent_questions() -> None:
    found = estimate_mean([1, 0, 1, 0], ["maya"] * 4)
    assert found.mean == 0.5
    assert found.error == pytest.approx(math.sqrt(1 / 3) / 2)
    assert estimate_mean([1], ["maya"]).error is None


def test_error_of_several_agents_is_clustered() -> None:
    alike = estimate_mean([1, 1, 0, 0], ["maya", "maya", "jonas", "jonas"])
    mixed = estimate_mean([1, 0, 1, 0], ["maya", "maya", "jonas", "jonas"])
    assert alike.error == pytest.approx(0.5), "two agents that differ wholly are two observations"
    assert mixed.error == 0
