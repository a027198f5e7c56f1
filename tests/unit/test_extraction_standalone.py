"""Statements that stand alone: who, what and something specific; nothing that needs the talk around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.extraction.standalone import content_words, flaw, is_unreal

MAYA = ("Maya",)


@pytest.mark.parametrize(
    "content",
    [
        "Maya's clinic opens at eight on weekdays.",
        "Maya teaches chemistry to year nine in Porto.",
        "Maya's landlord raised the rent to 900 euros.",
        "Maya runs Postgres 18 on three servers in Frankfurt.",
        "Maya is the lead designer of Frost Keep.",
    ],
)
def test_a_specific_statement_has_no_flaw(content: str) -> None:
    assert flaw(content, names=MAYA) is None


@pytest.mark.parametrize(
    "content",
    [
        "",
        "Maya.",
        "Maya did it.",
        "It was on the second shelf in the cellar.",
        "Maya needs a list of cheap hotels near the court.",
        "Can you show Maya the invoice of March?",
        "Maya appreciates the quick summary of the case.",
        "Maya signed the lease with [Landlord's Name] last year.",
        "Maya cooked the soup for the guests and then …",
    ],
)
def test_what_points_away_asks_or_reacts_has_a_flaw(content: str) -> None:
    assert flaw(content, names=MAYA) is not None


def test_a_name_alone_is_no_content() -> None:
    assert flaw("Maya Maya Maya.", names=MAYA, at_work=False) == "too little content"


def test_among_people_a_short_fact_is_enough() -> None:
    assert flaw("Maya is vegetarian.", names=MAYA, at_work=False) is None


def test_content_words_leave_out_function_words() -> None:
    assert content_words("The nurse and I have been at ward 7.") == ["nurse", "ward", "7"]
    assert content_words("") == content_words("it is what it is") == []


def test_content_words_of_any_script_and_of_identifiers_count() -> None:
    assert "us-east-1" in content_words("Pods run in us-east-1.")
    assert content_words("Größe Ελλάδα") == ["größe", "ελλάδα"]


@pytest.mark.parametrize("said", ["I would sue them.", "Maybe the boss dies twice.", "If it rains, class is off."])
def test_a_guess_or_condition_is_unreal(said: str) -> None:
    assert is_unreal(said)


@pytest.mark.parametrize("said", ["I sued them in May.", "The boss dies twice.", ""])
def test_a_plain_statement_is_real(said: str) -> None:
    assert not is_unreal(said)


@given(st.text(max_size=300), st.booleans())
def test_any_statement_is_judged_the_same_way_twice(text: str, at_work: bool) -> None:
    assert flaw(text, names=MAYA, at_work=at_work) == flaw(text, names=MAYA, at_work=at_work)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "junk", ["a ", "is ", "it ", "[A", "<A", "_", "for ", "what ", "very ", "needs a ", "is so ", "I have "]
)
def test_hostile_statements_are_judged_in_bounded_time(junk: str) -> None:
    text = junk * (100_000 // len(junk)) + "x"
    flaw(text, names=MAYA)
    is_unreal(text)
