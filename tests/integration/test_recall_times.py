"""Questions that speak of times, on a real Postgres: what comes first, and in which order it is told."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from slowwave.errors import InvalidQuery
from tests.support.recalling import Shelf, context, search

pytestmark = pytest.mark.servers

NOW = datetime(2024, 5, 10, 12, tzinfo=UTC)
MARCH, APRIL, MAY = (datetime(2024, month, 8, 9, tzinfo=UTC) for month in (3, 4, 5))


def found(shelf: Shelf, query: str, **options: Any) -> list[str]:
    return [hit.id for hit in search(shelf.connection, "default", "maya", query, **{"now": NOW, **options})]


def reviews(shelf: Shelf) -> None:
    """The same said in three months; what is said of it in March is the shortest, and wins without a time."""
    shelf.say("march", "The budget review went well.", at=MARCH)
    shelf.say("april", "On that day the budget review took hours, with lunch and dinner.", at=APRIL)
    shelf.say("may", "Another long day, and the budget review took all of it.", at=MAY)
    shelf.say("else", *(f"Lunch {n} was fine." for n in range(30)), at=APRIL)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("What about the budget review?", "march#1"),
        ("What about the budget review last month?", "april#1"),
        ("What about the budget review in April?", "april#1"),
        ("What about the budget review this week?", "may#1"),
        ("What about the budget review two days ago?", "may#1"),
        ("¿Qué pasó con el budget review el mes pasado?", "april#1"),
    ],
)
def test_what_was_said_in_the_interval_comes_first(shelf: Shelf, query: str, first: str) -> None:
    reviews(shelf)
    assert found(shelf, query)[0] == first


def test_a_message_of_a_conversation_finds_the_newest_first_and_a_question_does_not(shelf: Shelf) -> None:
    reviews(shelf)
    message = "Right, the slides are done. What about the budget review?"
    assert found(shelf, message)[0] == "may#1"
    assert found(shelf, "What about the budget review?")[0] == "march#1"
    assert found(shelf, "Right, the slides are done. What about the budget review in March?")[0] == "march#1"


def test_a_hit_tells_what_it_gains_by_recency(shelf: Shelf) -> None:
    reviews(shelf)

    def gains(query: str) -> list[float]:
        hits = search(shelf.connection, "default", "maya", query, now=NOW)
        by_age = sorted((hit for hit in hits if hit.id != "else#1"), key=lambda hit: hit.valid_from)
        return [hit.why.recency / (hit.score or 1) for hit in by_age if hit.why]

    shares = gains("The slides are done. What about the budget review?")
    assert len(shares) == 3
    assert 0 < shares[0] < shares[1] < shares[2]
    assert gains("What about the budget review?") == [0, 0, 0]


def test_a_relative_time_finds_what_shares_no_other_word(shelf: Shelf) -> None:
    reviews(shelf)
    shelf.say("pizza", "We had pizza.", at=NOW - timedelta(days=1))
    assert found(shelf, "What did we do yesterday?")[0] == "pizza#1"


def test_without_now_times_are_words_like_others(shelf: Shelf) -> None:
    reviews(shelf)
    assert found(shelf, "What about the budget review last month?", now=None)[0] == "march#1"


def test_only_what_lies_inside_answers_a_strict_question(shelf: Shelf) -> None:
    reviews(shelf)
    others = {"march#1", "may#1"}
    assert not others & set(found(shelf, "Show only the budget review of last month", limit=50))
    assert others < set(found(shelf, "Show the budget review of last month", limit=50))


def test_memories_count_by_the_time_since_when_they_hold(shelf: Shelf) -> None:
    old = shelf.keep("Maya's seat is by the aisle on all of her flights.", since=MARCH)
    new = shelf.keep("Maya's seat is by the window.", since=MAY)
    assert found(shelf, "Which seat did Maya have?")[0] == new
    assert found(shelf, "Which seat did Maya have in March?")[0] == old


def test_an_event_in_the_question_is_looked_up(shelf: Shelf) -> None:
    shelf.say("move", "I moved to Bergen today.", at=APRIL)
    shelf.say("before", "My favourite cafe is the one by the old harbour, next to the mill.", at=MARCH)
    shelf.say("after", "My favourite cafe is the blue one by the new library in town.", at=MAY)

    def cafes(query: str) -> list[str]:
        return [one for one in found(shelf, query) if one != "move#1"]

    assert cafes("What was my favourite cafe before I moved?") == ["before#1", "after#1"]
    assert cafes("What was my favourite cafe since I moved?") == ["after#1", "before#1"]


def test_an_event_that_nothing_tells_of_changes_nothing(shelf: Shelf) -> None:
    reviews(shelf)
    assert found(shelf, "What about the budget review before the volcano erupted?")[0] == "march#1"


def test_the_latest_comes_first_among_equals(shelf: Shelf) -> None:
    shelf.say("old", "My address is Elm Street 1.", at=MARCH)
    shelf.say("new", "My address is Oak Street 2.", at=MAY)
    assert found(shelf, "What is my latest address?")[0] == "new#1"


def test_a_question_of_order_is_answered_in_order_of_time(shelf: Shelf) -> None:
    reviews(shelf)
    query = "In what order were the long budget review days?"
    assert found(shelf, query, order="auto") == ["march#1", "april#1", "may#1"]
    assert found(shelf, query, order="relevance")[0] == "may#1"
    assert found(shelf, "What about the long budget review?", order="auto")[0] == "may#1"
    assert found(shelf, "What about the long budget review?", order="time")[0] == "march#1"


def test_a_context_reads_the_times_of_its_query(shelf: Shelf) -> None:
    shelf.keep("Maya's seat is by the aisle on all of her flights.", since=MARCH)
    shelf.keep("Maya's seat is by the window.", since=MAY)

    def seats(query: str) -> list[datetime]:
        return [hit.valid_from for hit in context(shelf.connection, "default", "maya", query=query, now=NOW).memories]

    assert seats("Which seat did Maya have?") == [MAY, MARCH]
    assert seats("Which seat did Maya have two months ago?") == [MARCH, MAY]
    assert seats("In what order did Maya's seat change?") == [MARCH, MAY]


def test_a_time_without_its_zone_is_refused(shelf: Shelf) -> None:
    with pytest.raises(InvalidQuery, match="now"):
        found(shelf, "What happened?", now=datetime(2024, 5, 10))  # noqa: DTZ001 (that is what is refused)
    with pytest.raises(InvalidQuery, match="order"):
        found(shelf, "What happened?", order="newest")
