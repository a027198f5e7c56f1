"""Speech acts: clear examples of each act, who may perform it, and negations that never count as agreement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.extraction.acts import act_of, acts_of

ACTS = {"propose", "ask", "instruct", "deliver", "accept", "reject", "correct", "report", "chat"}


@pytest.mark.parametrize(
    ("said", "act"),
    [
        ("Which dose did the cardiologist prescribe?", "ask"),
        ("Could you compare the two leases?", "ask"),
        ("Refund ticket 8841 in full.", "instruct"),
        ("Please translate clause seven into Polish.", "instruct"),
        ("Yes, that recipe works for me.", "accept"),
        ("Perfect, let's go with the smaller oven.", "accept"),
        ("Agreed.", "accept"),
        ("No, the boss fight comes later.", "reject"),
        ("I don't want the monthly plan.", "reject"),
        ("Actually, the hearing is on Tuesday.", "correct"),
        ("Thanks a lot!", "chat"),
        ("My class has twenty-six pupils.", "report"),
        ("The invoice of March was paid twice.", "report"),
    ],
)
def test_an_act_of_a_person(said: str, act: str) -> None:
    assert act_of(said, by_agent=False) == act


@pytest.mark.parametrize(
    ("said", "act"),
    [
        ("How about moving the standup to ten?", "propose"),
        ("Here is the revised menu.", "deliver"),
        ("I've drafted the safeguarding policy.", "deliver"),
        ("What is the patient's weight?", "ask"),
        ("You're welcome!", "chat"),
        ("The cluster has three nodes.", "report"),
    ],
)
def test_an_act_of_an_agent(said: str, act: str) -> None:
    assert act_of(said, by_agent=True) == act


@pytest.mark.parametrize(
    "said",
    [
        "Absolutely not.",
        "Definitely not this week.",
        "That is not acceptable.",
        "That's not perfect.",
        "It is never fine.",
        "I never agree to that.",
        "No, that's not what I wanted.",
        "Yes and no.",
        "I don't like this soup.",
    ],
)
def test_a_negated_verdict_accepts_nothing(said: str) -> None:
    assert act_of(said, by_agent=False) != "accept"


@given(st.text(max_size=400), st.booleans())
def test_any_text_has_one_act_and_always_the_same(text: str, by_agent: bool) -> None:
    assert act_of(text, by_agent=by_agent) in ACTS
    assert acts_of([text, text], by_agent=by_agent) == [act_of(text, by_agent=by_agent)] * 2


@pytest.mark.timeout(60)
@pytest.mark.parametrize("junk", ["a ", "is ", "not ", "(", "- ", "I have ", "that is ", "ok, ", "not a "])
def test_hostile_sentences_have_an_act_in_bounded_time(junk: str) -> None:
    assert act_of(junk * (100_000 // len(junk)), by_agent=False) in ACTS
    assert act_of(junk * (100_000 // len(junk)), by_agent=True) in ACTS
