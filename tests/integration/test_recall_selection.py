"""What a search shows of what it found: by a budget, by relevance, with neighbours, and why."""

import pytest

from slowwave.errors import InvalidQuery
from slowwave.recall import estimate
from slowwave.recall.selection import shown_line
from tests.support.recalling import NOW, Shelf, search

pytestmark = pytest.mark.servers

PLAN = "\n\n".join(
    f"## Day {n}\n\nThe group visits the {place} and stays for two hours. " + "Bring water and good shoes. " * 8
    for n, place in enumerate(("harbour", "cathedral", "vineyard", "aqueduct", "lighthouse"), 1)
)


def test_budget_is_kept_and_no_hit_repeats_another(shelf: Shelf) -> None:
    for n in range(12):
        shelf.say(f"s{n}", "The ferry to Porto leaves at noon.", f"The ferry number {n} has a blue funnel and a bell.")
    for budget in (0, 20, 60, 200):
        hits = search(shelf.connection, "default", "maya", "ferry", limit=50, max_tokens=budget)
        assert sum(estimate(shown_line(hit)) for hit in hits) <= budget
    assert [hit.content for hit in hits].count("The ferry to Porto leaves at noon.") == 1


def test_nothing_is_known_of_another_topic(shelf: Shelf) -> None:
    shelf.say("trip", PLAN, *(f"Leg {n} was long and the weather was fine." for n in range(40)))
    question = "which insulin dose, glucose meter, diet and medicine did doctor Novak order in the long consultation?"
    assert search(shelf.connection, "default", "maya", question, min_relevance=0.2) == []
    assert search(shelf.connection, "default", "maya", "when do we visit the aqueduct?", min_relevance=0.2)


def test_relevance_depends_on_the_best_hit(shelf: Shelf) -> None:
    shelf.say("garden", "The red tractor needs new brakes.", "Nice.", *("The well is deep." for _ in range(9)))

    def of_tractor(query: str) -> float:
        hits = search(shelf.connection, "default", "maya", query, now=NOW)
        return next(hit.relevance or 0.0 for hit in hits if "tractor" in hit.content)

    assert of_tractor("red tractor brakes") > 0.95
    assert of_tractor("Did Novak lease a tractor from Zagreb for the vineyard?") < 0.2
    assert of_tractor("Did the tractor need Zagreb's brakes?") > 0.2


def test_question_about_an_unknown_name_finds_nothing_relevant(shelf: Shelf) -> None:
    """The customer's name and the booking's number are unknown; all other words are in every conversation."""
    for customer, number in (("Mia Kim", "4XGCCM"), ("Omar Davis", "NQNU5R"), ("Anya Garcia", "59XX6W")):
        shelf.say(customer, f"{customer} booked the flight to Seattle.", f"The booking is {number}, still valid.")

    def found(query: str) -> list[str]:
        return [hit.content for hit in search(shelf.connection, "default", "maya", query, min_relevance=0.2)]

    assert "Omar Davis booked the flight to Seattle." in found("Did Omar Davis book a flight?")
    assert "The booking is NQNU5R, still valid." in found("Is NQNU5R still valid?")
    assert found("Did Lucas Brown book a flight?") == found("Is 8C8K4E still valid?") == []


def test_share_keeps_what_answers_as_well_as_the_best_hit(shelf: Shelf) -> None:
    for session, told in (("stack", "We deploy with Helm."), ("dates", "We deploy on Friday, after the review.")):
        shelf.say(session, told)
    question = "how do we deploy Helm charts?"

    def found(share: float) -> list[str]:
        return [hit.content for hit in search(shelf.connection, "default", "maya", question, min_share=share)]

    assert "We deploy on Friday, after the review." in found(0)
    assert found(0.8) == found(1) == ["We deploy with Helm."]


def test_around_brings_the_neighbours_of_the_same_conversation(shelf: Shelf) -> None:
    shelf.say("trip", "Please plan five days for us.", PLAN, "That is a fine plan.", speaker="Maya")
    shelf.say("other", "Nothing of this belongs to the trip.")
    (alone, *_) = search(shelf.connection, "default", "maya", "aqueduct", limit=1)
    (wide, *_) = search(shelf.connection, "default", "maya", "aqueduct", limit=1, around=1)
    assert alone.content in wide.content
    assert "lighthouse" in wide.content
    assert "harbour" not in wide.content
    (whole, *_) = search(shelf.connection, "default", "maya", "aqueduct", limit=1, around=10)
    assert whole.content.startswith("Maya: Please plan five days")
    assert whole.content.endswith("Maya: That is a fine plan.")


def test_a_hit_says_what_ranked_it(shelf: Shelf) -> None:
    shelf.say("trip", "The ferry leaves at noon.")
    (hit,) = search(shelf.connection, "default", "maya", "when does the ferry leave?")
    assert hit.why is not None
    assert hit.why.coverage == pytest.approx(1)
    assert hit.score == pytest.approx(hit.why.words + hit.why.session, abs=1e-6)
    assert hit.relevance is not None
    assert 0.5 < hit.relevance <= 1
    assert hit.to_json()["why"]["cosine"] is None
    assert hit.why.names is None


def test_who_knows_two_first_names_need_not_know_the_person(shelf: Shelf) -> None:
    shelf.say("monday", "Amelia Davis booked a flight to Rome.")
    shelf.say("tuesday", "Omar Rossi booked a flight to Rome.")

    def best(query: str) -> tuple[float, float]:
        hits = search(shelf.connection, "default", "maya", query)
        return max((hit.relevance or 0.0, hit.why.names or 0.0) for hit in hits if hit.why)

    known, unknown = best("Where does Amelia Davis fly?"), best("Where does Amelia Rossi fly?")
    assert known[1] == 1
    assert unknown[1] == pytest.approx(0.25)
    assert known[0] > 2 * unknown[0]


def test_a_hit_says_what_its_relevance_depends_on(shelf: Shelf) -> None:
    shelf.say("trip", "Jonas takes the ferry at noon.")
    shelf.say("other", "The ferry was late.")
    hits = search(shelf.connection, "default", "maya", "Does Jonas take the ferry?")
    reasons = [hit.why for hit in hits if hit.why]
    assert [why.names for why in reasons] == [1.0, 0.0]
    assert [why.best for why in reasons] == [reasons[0].evidence] * 2
    assert reasons[0].evidence > reasons[1].evidence > 0


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"max_tokens": -1}, "max_tokens must be an integer, 0 or more, got -1"),
        ({"max_tokens": True}, "max_tokens must be"),
        ({"min_relevance": 2}, "min_relevance must be a number from 0 to 1, got 2"),
        ({"min_share": True}, "min_share must be a number from 0 to 1, got True"),
        ({"around": 11}, "around must be an integer from 0 to 10, got 11"),
    ],
)
def test_impossible_choices_are_refused(shelf: Shelf, chosen: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidQuery, match=message):
        search(shelf.connection, "default", "maya", "ferry", **chosen)  # type: ignore[arg-type]
