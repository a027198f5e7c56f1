"""How the score of changes is fitted: from which pairs, and that its file fits its evidence."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from judge.train.change_data import WEIGHTS, Case, of_groups, of_histories
from judge.train.change_fit import MOST_ENDED, Weighed, fit
from judge.train.changes import TARGET, write
from slowwave_server.domain.similarity import Meaning, read
from slowwave_server.domain.similarity.change_score import evidence, fitted

MEANING = Meaning(0.1, 0.2, 0.4, 0.2, 0.1, 0.8, 0.7, by_first=0.3)
GROUP = {
    "domain": "homes",
    "statement": "Maya lives in Porto.",
    "duplicate": ["Maya's home is in Porto."],
    "conflict": ["Maya lives in Oslo."],
    "update": ["Maya has moved away from Porto."],
    "related": ["Maya likes the bakeries of Porto."],
    "distinct": ["Jonas lives in Porto."],
}


def _rows() -> list[Weighed]:
    """Return pairs of which one with a word for a change mostly ends the older statement."""
    random_ = random.Random(7)  # noqa: S311 (data that each run repeats)
    found = []
    for at in range(2000):
        kind = ("update", "related")[at % 2]
        case = Case("a", "b", "groups", kind, str(at % 20))
        its = {"change": float(random_.random() < (0.8 if kind == "update" else 0.1)), "update": random_.gauss(0, 1)}
        found.append(Weighed(case, its, 0.0, by_rules=False))
    return found


def test_weights_follow_the_evidence_and_limit_ended_related_pairs() -> None:
    rows = _rows()
    weights = fit(rows)
    assert weights == fit(rows)
    assert weights.weights["change"] > 2
    assert abs(weights.weights["update"]) < 0.3
    bounds = fitted()[1]
    related = [row for row in rows if row.case.kind == "related"]
    assert sum(row.ended(weights, bounds) for row in related) / len(related) == pytest.approx(MOST_ENDED, abs=0.005)


def test_a_higher_bound_raises_the_start() -> None:
    rows = _rows()
    assert fit([replace(row, least=1.0) for row in rows]).start == pytest.approx(fit(rows).start + 1, abs=0.02)


def test_rules_decide_about_weak_evidence_and_unasked_pairs() -> None:
    weights, bounds = fitted()
    row = Weighed(Case("a", "b", "groups", "update", ""), None, 0.0, by_rules=True)
    assert row.ended(weights, bounds)
    none = replace(row, found=dict.fromkeys(weights.weights, 0.0))
    for score, ended in ((bounds.possible - 0.1, False), (bounds.sure - 0.1, True), (bounds.sure, True)):
        assert none.ended(replace(weights, start=score), bounds) is ended
        assert replace(none, by_rules=False).ended(replace(weights, start=score), bounds) is (score >= bounds.sure)


def test_only_an_update_after_its_statement_ends_it() -> None:
    ending = {(case.older, case.newer) for case in of_groups([GROUP], "groups") if case.ended}
    assert ending == {(same, GROUP["update"][0]) for same in (GROUP["statement"], *GROUP["duplicate"])}


def test_pairs_of_a_history_follow_its_order() -> None:
    cases = of_histories("learned", seed=1)
    assert cases == of_histories("learned", seed=1)
    assert {case.kind for case in cases} <= set(WEIGHTS)
    ending = {(case.older, case.newer) for case in cases if case.ended}
    assert len(ending) > 50
    assert not ending & {(newer, older) for older, newer in ending}


def test_the_file_names_its_data_and_weighs_each_evidence() -> None:
    told = json.loads(TARGET.read_text("utf-8"))
    assert {"data", "fitted", "pairs", "ended of pairs left out"} <= set(told["provenance"])
    older, newer = read("Maya lives in Porto."), read("Maya has moved to Oslo.")
    found = evidence(older, newer, MEANING, was_change=False, is_change=True, is_quoted=False)
    assert set(found) == set(told["weights"])


def test_what_is_written_is_what_the_rules_read(tmp_path: Path) -> None:
    weights, bounds = fitted()
    file = tmp_path / "score.json"
    write(file, {"data": "x"}, weights, bounds)
    told = json.loads(file.read_text("utf-8"))
    assert told == json.loads(TARGET.read_text("utf-8")) | {"provenance": {"data": "x"}}
