"""Short answers: what a yes, a no or a few words say of the question before them, and where nothing can be said."""

import pytest

from slowwave_server.domain.extraction.answers import statement


@pytest.mark.parametrize(
    ("question", "answer", "says"),
    [
        ("Do you have any children?", "Yes, two.", "I have children: two."),
        ("Do you have any children?", "No.", "I do not have any children."),
        ("Do you still live with your parents?", "Yeah I do!", "I live with my parents."),
        ("Have you ever been to Oslo?", "No, never!", "I have never been to Oslo."),
        ("Have you ever been to Oslo?", "Yep.", "I have been to Oslo."),
        ("Are you a vegetarian?", "I am.", "I am a vegetarian."),
        ("Are you married?", "Not yet", "I am not married."),
        ("Can you swim?", "Yes I can", "I can swim."),
        ("Did you finish your thesis?", "Yes", "I did finish my thesis."),
        ("What is your dog's name?", "Biscuit!", "My dog's name is Biscuit."),
        ("Where do you live?", "Near Porto.", "I live near Porto."),
        ("Where do you work?", "Lisbon", "I work in Lisbon."),
        ("What kind of music do you like?", "Mostly old jazz.", "I like mostly old jazz (kind of music)."),
    ],
)
def test_a_short_answer_becomes_the_statement_that_it_makes(question: str, answer: str, says: str) -> None:
    assert statement(question, answer) == says


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you prefer tea or coffee?", "Yes."),
        ("Do you think it will rain?", "Yes."),
        ("Do you like it?", "Yes."),
        ("Do you have any children?", "I love children."),
        ("Do you have any children?", "Yes, but they have all moved out by now."),
        ("Do you have any children?", "Maybe."),
        ("How are you?", "Fine."),
        ("What is your dog's name?", "I have no idea."),
        ("Where do you live?", "It is a long story."),
        ("You have children?", "Yes."),
        ("Do you like " + "very " * 60 + "old cars?", "Yes."),
    ],
)
def test_an_answer_that_needs_a_guess_is_left(question: str, answer: str) -> None:
    assert statement(question, answer) is None
