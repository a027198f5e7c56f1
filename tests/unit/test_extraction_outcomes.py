"""Outcomes: what was done or refused, about something specific; no plans, conditions or questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.extraction.outcomes import has_specifics, is_outcome
from tests.support.bounded import at_most


@pytest.mark.parametrize(
    "said",
    [
        "Your subscription AB-2291 has been successfully cancelled.",
        "I have refunded $49 to your card.",
        "We've rescheduled the hearing to 2031-05-04.",
        "The prescription RX77Q1 was renewed for 30 days.",
        "I've merged the branch `fix/leak` into main.",
        "Build 4.2.1 has now been deployed.",
        "Grades of 26 pupils have been uploaded to marks.csv.",
        "Ticket HD-4431 is not eligible for a refund.",
    ],
)
def test_a_deed_with_an_identifier_or_amount_is_an_outcome(said: str) -> None:
    assert is_outcome(said)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "The refund of $49 will be processed tomorrow.",
        "If you agree, order AB-2291 can be cancelled.",
        "Has order AB-2291 been cancelled?",
        "I have updated it.",
        "Everything was saved.",
        "The soup tastes of 5 herbs.",
        "Would you like me to cancel AB-2291?",
        "I can't do that.",
    ],
)
def test_plans_questions_and_vague_deeds_are_none(said: str) -> None:
    assert not is_outcome(said)


@pytest.mark.parametrize("said", ["v2.0", "$3", "#77", "nurse@clinic.example", "at 9:40", "notes.md", "QX81-B"])
def test_a_number_a_file_or_a_code_is_specific(said: str) -> None:
    assert has_specifics(said)
    assert not has_specifics("a lot of good things")


@given(st.text(max_size=300))
def test_any_sentence_is_judged_the_same_way_twice(text: str) -> None:
    assert is_outcome(text) == is_outcome(text)


@pytest.mark.parametrize(
    "junk",
    ["@", "a@", "A-", "A1", "1,", "1.", "a-", "a.", "`", "'A", '"a', "has ", "i have ", "jan ", "\n", "1", "can't A1 "],
)
def test_hostile_sentences_are_judged_in_bounded_time(junk: str) -> None:
    text = junk * (25_000 // len(junk)) + "x"
    with at_most(4):
        has_specifics(text)
        is_outcome(text)
        is_outcome("It has been cancelled " + text)
