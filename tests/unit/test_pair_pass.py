"""How training measures the judge of pairs: as the package answers, and as a pass decides."""

from pathlib import Path

import numpy as np
import pytest

import slowwave_judge
from judge.train.pair_answers import Answers
from judge.train.pair_measure import READ_AGAIN, SAME_AGAIN, Scale, Thresholds, against, fit_thresholds
from judge.train.pair_model import MODEL, PairModel, read_card
from judge.train.pair_pass import allowed, passed
from judge.train.pairs import OUTPUTS, Pair, target
from slowwave_judge import PairJudge

FOLDER = Path(slowwave_judge.__file__).parent
PAIRS = [
    Pair("Backups are encrypted.", "Backups are stored in plain text.", target(conflict=1.0)),
    Pair("The user has no job.", "The user is out of work.", target(duplicate=1.0)),
    Pair("The retro lasts an hour.", "The retro is set for 90 minutes.", target(conflict=1.0)),
    Pair("Maya likes tea.", "Jonas likes tea.", target(distinct=1.0)),
    Pair("The user lives in Oslo.", "The user is a nurse.", target(related=1.0)),
]
OPEN = Pair(
    "The orders service retries three times.", "The orders service gives up after one retry.", target(update=1.0)
)


def test_training_reads_pairs_as_the_package_does() -> None:
    card, judge = read_card(FOLDER), PairJudge()
    scale = Scale(card["scale"]["factor"], tuple(card["scale"]["shifts"]))
    for pair in (*PAIRS, *(pair.swapped() for pair in PAIRS)):
        told = judge.relation(pair.first, pair.second)
        expected = scale(PairModel(FOLDER).logits([pair], scale))[0]
        assert [getattr(told, name) for name in OUTPUTS] == pytest.approx(expected, abs=1e-4)


def test_answers_are_kept_for_the_next_run(tmp_path: Path) -> None:
    scale = Scale(1.0, (0.0,) * len(OUTPUTS))
    told = PairModel(FOLDER, tmp_path).logits(PAIRS, scale)
    assert PairModel(FOLDER, tmp_path).logits(PAIRS, scale) == pytest.approx(told)
    weights = (FOLDER / MODEL).read_bytes()
    a, b = sorted((PAIRS[0].first, PAIRS[0].second))
    assert Answers(weights, tmp_path).get(a, b) is not None
    assert Answers(weights + b"other", tmp_path).get(a, b) is None
    assert Answers(weights, None).get(a, b) is None


def test_one_part_alone_may_raise_the_threshold_of_a_conflict() -> None:
    chances = np.array([[0.0, 0.1, 0.0, 0.0, 0.9, 0.0]] * 90 + [[0.0, 0.8, 0.0, 0.0, 0.2, 0.0]] * 3)
    pairs = [Pair("a", "b", target(related=1.0), part="easy")] * 90
    hard = [Pair("a", "b", target(related=1.0), part="hard")] * 3
    assert fit_thresholds(chances, [*pairs, *pairs[:3]]).conflict < chances[-1, 1]
    assert fit_thresholds(chances, [*pairs, *hard]).conflict > chances[-1, 1]


def test_an_open_pair_is_read_in_both_orders() -> None:
    card, model = read_card(FOLDER), PairModel(FOLDER)
    assert card["read again"] == {"contradiction": list(READ_AGAIN), "duplicate": SAME_AGAIN}
    sure = Scale(card["scale"]["factor"], (-9.0, -9.0, -9.0, -9.0, 9.0, 9.0))
    assert against(sure(model.logits([OPEN])))[0] < READ_AGAIN[0]
    once, with_sure = model.logits([OPEN])[0], model.logits([OPEN], sure)[0]
    assert once == pytest.approx(with_sure)
    balance = float(np.log(np.exp(once[4:]).sum() / np.exp(once[1:4]).sum())) + 0.5
    unsure = Scale(1.0, (-20.0, balance, balance, balance, 0.0, 0.0))
    assert READ_AGAIN[0] <= against(unsure(once[None]))[0] <= READ_AGAIN[1]
    assert model.logits([OPEN], unsure)[0] != pytest.approx(once)
    alike = Scale(1.0, (30.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert model.logits([OPEN], alike)[0] != pytest.approx(once)


def test_rules_allow_a_merge_or_a_contradiction() -> None:
    found = allowed(PAIRS)
    assert found.merge.tolist() == [True, True, False, False, True]
    assert found.conflict.tolist() == [True, True, True, False, False]


def test_errors_that_the_rules_stop_lower_no_threshold() -> None:
    chances = np.array([[0.9, 0.02, 0.02, 0.02, 0.02, 0.02]] * len(PAIRS))
    assert fit_thresholds(chances, PAIRS).duplicate > chances[0, 0]
    held = [PAIRS[1], PAIRS[2], PAIRS[3]]
    assert fit_thresholds(chances[:3], held, allowed(held)).duplicate < chances[0, 0]


def test_a_pass_judges_by_rules_and_model() -> None:
    sure = np.array([[0.95, 0.01, 0.01, 0.01, 0.01, 0.01]] * len(PAIRS))
    assert passed(PAIRS[1:4], sure[:3], Thresholds(0.8, 0.7)) == ["merge", "distinct", "distinct"]
