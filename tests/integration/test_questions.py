"""How many questions passes ask: one of a group at a time, a bounded number a pass, and none is lost."""

from datetime import timedelta

import pytest
from sqlalchemy import Engine

from slowwave_server.services.consolidation.questions import MOST_ASKED
from slowwave_server.services.review.decision import Decision
from slowwave_server.services.review.decisions import decide_cases
from slowwave_server.services.undo.checks import CannotUndo
from slowwave_server.services.undo.undo import undo
from tests.support.consolidating import Hearer
from tests.support.passing import state

pytestmark = pytest.mark.servers


@pytest.fixture
def hearer(engine: Engine) -> Hearer:
    return Hearer(engine)


def tell(hearer: Hearer, *statements: str, **more: str) -> None:
    for place, statement in enumerate(statements):
        hearer.hear(statement, days_ago=100 - place, session=f"s{place % 5}", **more)


def questions(hearer: Hearer) -> list[int]:
    return [row.id for row in hearer.sql("SELECT id FROM slowwave.review_items WHERE state = 'open' ORDER BY id")]


def conflicts(hearer: Hearer) -> int:
    return int(hearer.sql("SELECT count(*) AS n FROM slowwave.memory_conflicts WHERE status = 'open'")[0].n)


def answer(hearer: Hearer, item: int, verdict: str) -> None:
    decision = Decision("accept" if verdict == "accept" else "reject")
    decide_cases(hearer.engine, "default", "item", [item], decision, by="priya", now=hearer.now)


@pytest.mark.parametrize("lines", [30, pytest.param(120, marks=pytest.mark.long)])
def test_a_list_of_any_length_asks_one_question(hearer: Hearer, lines: int) -> None:
    tell(hearer, *(f"I keep the green ledger number {n} in drawer {n}." for n in range(lines)))
    report = hearer.run("light")
    assert (len(questions(hearer)), conflicts(hearer)) == (1, 1)
    assert report.counts == {"asked": 1, "conflicts": 1}
    hearer.run("deep")
    assert (len(questions(hearer)), conflicts(hearer)) == (1, 1)


def test_a_counter_asks_one_question(hearer: Hearer) -> None:
    tell(hearer, *(f"Maya finished level {n} of the game." for n in range(3, 9)))
    hearer.run("light")
    assert len(questions(hearer)) == 1


def test_a_list_is_not_asked_about_after_a_person_said_so(hearer: Hearer) -> None:
    tell(hearer, *(f"I keep the green ledger number {n} in drawer {n}." for n in range(10)))
    hearer.run("light")
    answer(hearer, questions(hearer)[0], "reject")
    tell(hearer, *(f"I keep the green ledger number {n} in drawer {n}." for n in range(10, 20)))
    hearer.run("light")
    hearer.run("deep")
    assert (questions(hearer), conflicts(hearer)) == ([], 0)


def test_a_replaced_value_is_asked_about_again(hearer: Hearer) -> None:
    tell(hearer, "Maya finished level 3 of the game.", "Maya finished level 4 of the game.")
    hearer.run("light")
    answer(hearer, questions(hearer)[0], "accept")
    hearer.hear("Maya finished level 5 of the game.", days_ago=98)
    hearer.run("light")
    assert len(questions(hearer)) == 1


def test_a_group_is_asked_about_one_pair_at_a_time(hearer: Hearer) -> None:
    rivals = ("Maya's project is named Apollo.", "Maya's project is named Hermes.", "Maya's project is named Zeus.")
    hearer.settings = hearer.settings.model_copy(update={"promote_confidence": 1.0})
    for rival in rivals:
        hearer.hear(rival, days_ago=35)
    hearer.run("light")
    pairs = conflicts(hearer)
    assert pairs > 1
    assert len(questions(hearer)) == 1
    asked = 1
    while open_ones := questions(hearer):
        answer(hearer, open_ones[0], "reject")
        hearer.run("light")
        asked += 1
    assert (asked - 1, conflicts(hearer)) == (pairs, 0)


def opposed(hearer: Hearer, number: int) -> None:
    names = ("tea", "jazz", "chess", "opera", "skiing", "sushi", "rowing", "poetry", "hiking", "karate")
    for n in range(number):
        person = f"Person{'abcdefghij'[n // 10]}{'abcdefghij'[n % 10]}".capitalize()
        hearer.hear(f"{person} likes {names[n % 10]}.", days_ago=35, session="a")
        hearer.hear(f"{person} does not like {names[n % 10]}.", days_ago=35, session="b")


def test_a_pass_asks_a_bounded_number_and_the_next_goes_on(hearer: Hearer) -> None:
    opposed(hearer, 45)
    first = hearer.run("light")
    assert (len(questions(hearer)), conflicts(hearer)) == (MOST_ASKED, 45)
    assert first.counts["to_ask_later"] > 0
    hearer.run("light")
    assert len(questions(hearer)) == 2 * MOST_ASKED
    hearer.run("light")
    assert len(questions(hearer)) == 45
    assert hearer.run("light").state == "nothing"


def test_undo_of_a_pass_names_the_pass_that_asked_later(hearer: Hearer) -> None:
    opposed(hearer, MOST_ASKED + 1)
    before = state(hearer.engine)
    first, second = hearer.run("light"), hearer.run("light")
    assert first.run is not None
    assert second.run is not None
    later = hearer.now + timedelta(days=1)
    with pytest.raises(CannotUndo, match=f"undo run {second.run} first"):
        undo(hearer.engine, "default", first.run, by="priya", now=later)
    for run in (second.run, first.run):
        undo(hearer.engine, "default", run, by="priya", now=later)
    assert state(hearer.engine) == before


@pytest.mark.parametrize("no_repeat", [False, True])
def test_an_undone_question_about_a_list_stays_undone(hearer: Hearer, *, no_repeat: bool) -> None:
    tell(hearer, *(f"I keep the green ledger number {n} in drawer {n}." for n in range(10)))
    first = hearer.run("light")
    assert first.run is not None
    undone = undo(hearer.engine, "default", first.run, by="priya", now=hearer.now, no_repeat=no_repeat)
    hearer.run("deep")
    assert len(questions(hearer)) == (0 if no_repeat else 1)
    if no_repeat:
        undo(hearer.engine, "default", undone.run, by="priya", now=hearer.now)
        assert len(questions(hearer)) == 1
