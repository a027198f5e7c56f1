"""The model of pairs: the package that answers, and what the verdict on two statements makes of its answer."""

import hashlib
import json
import pickle
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.settings import Consolidation
from slowwave_judge import PAIRS_NAME, PairJudge
from slowwave_server.domain.similarity import Judgement, Meaning, judge, read
from slowwave_server.services.consolidation.meaning import (
    MOST_CHARACTERS,
    PairAnswers,
    installed_pair_judge,
    pair_judge,
)

CONTRADICTIONS = [
    ("Backups are encrypted.", "Backups are stored in plain text."),
    ("Ines is happy to fly at night.", "Ines refuses to take night flights."),
    ("Deploys need two approvals.", "Deploys go out without any approval."),
]
REPETITIONS = [("Tomasz is the owner of the billing service.", "The billing service is owned by Tomasz.")]


def told(duplicate: float = 0.0, conflict: float = 0.0, update: float = 0.0) -> Meaning:
    """A meaning with these probabilities; the rest is `related`."""
    return Meaning(duplicate, conflict, update, 1 - duplicate - conflict - update, 0.0, 0.8, 0.7)


def judged(a: str, b: str, meaning: Meaning) -> Judgement:
    return judge(read(a), read(b), meaning=lambda _a, _b: meaning)


@pytest.fixture(scope="module")
def model() -> PairJudge:
    return PairJudge()


def test_the_card_of_pairs_names_the_weights_that_are_there() -> None:
    package = files("slowwave_judge")
    card = json.loads((package / "pairs.json").read_text())
    assert card["sha256"] == hashlib.sha256((package / "pairs.onnx").read_bytes()).hexdigest()
    assert f"pairs {card['sha256'][:8]}" == PAIRS_NAME


def test_the_model_contradicts_nothing_longer_than_what_it_learned() -> None:
    a, b = "The harbour bot runs on Node 18", "The harbour bot needs Node 20"
    more = ", says Ines in Oslo, who has looked after it for two years and likes it"
    assert judged(a, b, told(conflict=0.9)).verdict == "conflict"
    assert judged(f"{a}{more}{more}", b, told(conflict=0.9)).verdict != "conflict"


def test_two_subjects_of_one_speaker_do_not_contradict_each_other() -> None:
    a, b = 'Maya: "S010 is completed."', 'Maya: "S014 is completed."'
    assert judged(a, b, told(conflict=0.9)).verdict != "conflict"


@pytest.mark.parametrize(("a", "b"), CONTRADICTIONS)
def test_the_model_names_a_contradiction_that_rules_miss(a: str, b: str) -> None:
    installed = installed_pair_judge()
    assert installed is not None
    assert judge(read(a), read(b)).verdict != "conflict"
    assert judge(read(a), read(b), meaning=installed).verdict == "conflict"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The user lives in Oslo.", "The user is a nurse."),
        ("The user is Sophia Silva.", "The user's user ID is sophia_silva_7557."),
        ("The user's email is sophia@example.org.", "The user lives in Oslo."),
    ],
)
def test_values_of_two_attributes_contradict_nothing(a: str, b: str) -> None:
    assert judged(a, b, told(conflict=0.95)).verdict != "conflict"


def test_a_denial_may_contradict_the_value_of_another_attribute() -> None:
    contradicts = told(conflict=0.95)
    assert judged("The user works at Siemens.", "The user is not employed.", contradicts).verdict == "conflict"


@pytest.mark.parametrize(("a", "b"), REPETITIONS)
def test_the_model_finds_a_repetition_that_rules_miss(a: str, b: str) -> None:
    assert judge(read(a), read(b)).verdict not in {"duplicate", "merge"}
    assert judge(read(a), read(b), meaning=installed_pair_judge()).verdict == "merge"


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_get_probabilities_in_either_order(model: PairJudge, a: str, b: str) -> None:
    relation = model.relation(a, b)
    assert a == b or relation == model.relation(b, a).swapped()
    assert sum(getattr(relation, name) for name in relation.__slots__) == pytest.approx(1)


def test_a_contradiction_below_the_certainty_is_none() -> None:
    a, b = CONTRADICTIONS[0]
    assert judged(a, b, told(conflict=0.65)).verdict != "conflict"
    assert judged(a, b, told(conflict=0.4, update=0.35)).verdict == "conflict"


def test_a_rule_s_contradiction_needs_the_model_s_doubt() -> None:
    a, b = "Maya lives in Porto.", "Maya lives in Oslo."
    assert judged(a, b, told(conflict=0.2)).verdict == "conflict"
    assert judged(a, b, told(conflict=0.05)).verdict == "related"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Maya lives in Porto.", "Maya does not live in Porto."),
        ("The retry limit is 5.", "The limit of retries stands at 7."),
        ("Anna reports to Bela.", "Carla reports to Bela."),
    ],
)
def test_the_guard_vetoes_every_merge_of_the_model(a: str, b: str) -> None:
    assert judged(a, b, told(duplicate=0.99)).verdict not in {"duplicate", "merge"}


def test_the_model_is_not_asked_about_two_people() -> None:
    def ask(a: str, b: str) -> Meaning:
        raise AssertionError(f"asked about {a!r} and {b!r}")

    assert judge(read("Maya likes tea."), read("Jonas hates tea."), meaning=ask).meaning is None


def test_a_long_statement_is_left_to_the_rules() -> None:
    installed = installed_pair_judge()
    assert installed is not None
    assert installed("Maya lives in Porto. " * (MOST_CHARACTERS // 20), "Maya lives in Oslo.") is None


def test_the_model_is_asked_once_about_a_pair_in_either_order() -> None:
    asked: list[tuple[str, str]] = []

    def ask(a: str, b: str) -> Meaning:
        asked.append((a, b))
        return told(duplicate=0.9)

    answers = PairAnswers(ask, most=1)
    first = answers("Ines keeps bees.", "Ines sold her bees.")
    assert answers("Ines sold her bees.", "Ines keeps bees.") is first
    assert len(asked) == 1
    assert answers("Ines keeps bees", ".Ines sold her bees.") is not first, "the texts end at other places"
    assert answers("Ines keeps bees.", "Ines sold her bees.") is not first, "only one answer is kept"
    assert len(asked) == 3


def test_kept_answers_about_pairs_contain_no_text() -> None:
    answers = PairAnswers(lambda _a, _b: told(duplicate=0.9))
    assert answers("Ines keeps bees.", "Ines sold her bees.") is not None
    assert b"bees" not in pickle.dumps(vars(answers)["_answers"])


def test_a_setting_turns_the_model_of_pairs_off() -> None:
    assert pair_judge(Consolidation()) is not None
    assert pair_judge(Consolidation(judge=False)) is None
