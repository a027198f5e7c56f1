"""Whether a later statement tells of a change of what an earlier one said, without a model and with one."""

import pytest

from slowwave_server.domain.similarity import Meaning, changes, read
from slowwave_server.domain.similarity.quotes import plain_words


def meaning(contradiction: float) -> Meaning:
    return Meaning(0.1, contradiction, 0.0, 0.9 - contradiction, 0.0, 0.8, 0.7)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('The user: "I\'ve sold my boat (2024-05-03)."', "The user has sold the user's boat."),
        ('Maya to Jonas: "I am in Oslo."', "Maya is in Oslo."),
        ('Maya (asked \u201cwhere?\u201d): "I am in Oslo."', "Maya is in Oslo."),
        ("The user sold a boat (week of 2024-05-03).", "The user sold a boat."),
        ('Maya said "no".', 'Maya said "no".'),
    ],
)
def test_quotes_are_read_in_plain_words(text: str, plain: str) -> None:
    assert plain_words(text) == plain


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The harbour bot runs on Node 18.", "The harbour bot was upgraded to Node 20."),
        ("The gold plan costs 12 euros a month.", 'The user: "From today the gold plan is 15 euros a month."'),
        ("The user rows at Northern Oars.", "The user quit Northern Oars in May."),
        ("Our landlord is Mr Sands.", "Mr Sands sold the house, the landlord is Ines Tal now."),
    ],
)
def test_a_change_needs_no_model_if_the_words_say_it(older: str, newer: str) -> None:
    assert changes(read(newer), read(older), None)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The silver plan costs 9 euros a month.", "From today the gold plan is 15 euros a month."),
        ("The harbour bot runs on Node 18.", "The harbour bot runs on Node 18 in Oslo, too, since May."),
        ("The user rows at Northern Oars.", "The user met Ines at Northern Oars."),
        ("Maya went to Oslo in May.", "Maya left Oslo and moved on."),
    ],
)
def test_another_thing_or_no_change_ends_nothing(older: str, newer: str) -> None:
    assert not changes(read(newer), read(older), None)


def test_the_model_decides_only_about_words_of_change() -> None:
    older, newer = read("The user drives a van."), read("The user drives a bus now.")
    assert changes(newer, older, meaning(0.3))
    assert not changes(newer, older, meaning(0.1))
    assert not changes(older, newer, meaning(0.9))
